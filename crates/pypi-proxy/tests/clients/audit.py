"""Runs pip-audit with the JSON API of another server, whose URL is the first argument: audit.py URL ARGUMENT...

pip-audit has no option for the URL of the service. Only scheme and host of its requests are replaced.
"""

import sys
import urllib.parse

import requests
from pip_audit import _cli


def main():
    base = sys.argv.pop(1)
    request = requests.Session.request

    def redirected(self, method, url, *args, **options):
        return request(self, method, base + urllib.parse.urlsplit(url).path, *args, **options)

    requests.Session.request = redirected
    _cli.audit()


if __name__ == "__main__":
    main()
