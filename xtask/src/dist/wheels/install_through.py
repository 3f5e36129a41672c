"""Installs a project through an installed proxy: install_through.py FOLDER.

The interpreter is that of the environment with the proxy. Another server on this machine is the index.
"""

import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import zipfile

WHEEL = "pantry-1.0-py3-none-any.whl"
INFO = "pantry-1.0.dist-info/"
CONTENTS = {
    "pantry.py": "SHELVES = 3\n",
    INFO + "METADATA": "Metadata-Version: 2.1\nName: pantry\nVersion: 1.0\n",
    INFO + "WHEEL": "Wheel-Version: 1.0\nGenerator: pantry\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    INFO + "RECORD": "".join(f"{name},,\n" for name in ("pantry.py", INFO + "METADATA", INFO + "WHEEL", INFO + "RECORD")),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    project = folder / "simple" / "pantry"
    project.mkdir(parents=True)
    (project / "index.html").write_text(f'<!DOCTYPE html><a href="{WHEEL}">{WHEEL}</a>')
    with zipfile.ZipFile(project / WHEEL, "w") as wheel:
        for name, text in CONTENTS.items():
            wheel.writestr(name, text)

    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    index = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=index.serve_forever, daemon=True).start()

    # Only these settings: not those of this machine.
    environment = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PYPI_PROXY_INDEX_URL": f"http://127.0.0.1:{index.server_port}/simple/",
        "PYPI_PROXY_LISTEN": "127.0.0.1:0",
        "PYPI_PROXY_LOG_FORMAT": "json",
    }
    python = pathlib.Path(sys.executable)
    serve = [python.with_name("tightwire-pypi-proxy"), "serve"]
    with subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True) as proxy:
        try:
            address = next(event["address"] for event in map(json.loads, proxy.stderr) if "address" in event)
            # Otherwise the program would wait for a reader of its log.
            threading.Thread(target=proxy.stderr.read, daemon=True).start()
            pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--index-url", f"http://{address}/simple/", "pantry"]
            subprocess.run(pip, env=environment, check=True)
        finally:
            proxy.terminate()
    assert proxy.returncode == 0, proxy.returncode
    subprocess.run([python, "-c", "import pantry; assert pantry.SHELVES == 3"], check=True)


main()
