"""Writes the files of a small index: build.py FOLDER.

Below the folder, each project gets a folder of its files, whose times are those of their upload; `yanked.json` tells what
is yanked, as simple-repository reads it. What a project is made of stands in PROJECTS.
"""

import base64
import calendar
import hashlib
import io
import json
import os
import pathlib
import random
import sys
import tarfile
import time
import zipfile

# How a source distribution builds itself: with nothing but Python.
BACKEND = '''\
import base64, hashlib, pathlib, zipfile

NAME = "{name}-{version}-py3-none-any.whl"
INFO = "{name}-{version}.dist-info"
WHEEL = "Wheel-Version: 1.0\\nGenerator: pantry\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"

def read(path):
    return pathlib.Path(path).read_text()

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    info = pathlib.Path(directory) / INFO
    info.mkdir()
    (info / "METADATA").write_text(read("PKG-INFO"))
    (info / "WHEEL").write_text(WHEEL)
    return INFO

def build_wheel(directory, config_settings=None, metadata_directory=None):
    contents = {{
        "{name}/__init__.py": read("{name}/__init__.py"),
        INFO + "/METADATA": read("PKG-INFO"),
        INFO + "/WHEEL": WHEEL,
    }}
    record = INFO + "/RECORD,,\\n"
    with zipfile.ZipFile(pathlib.Path(directory) / NAME, "w") as wheel:
        for path, text in contents.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record = path + ",sha256=" + digest + "," + str(len(text)) + "\\n" + record
        wheel.writestr(INFO + "/RECORD", record)
    return NAME
'''

# Name, version, upload, and what else there is to tell of it.
PROJECTS = [
    ("pantry", "1.0", "2023-01-10", {"requires": ["pantry-shelf<2"]}),
    ("pantry", "2.0", "2024-03-10", {
        "requires": [
            "pantry-shelf>=1.0,<3",
            "pantry_notes; python_version >= '3'",
            "pantry-cellar; sys_platform == 'no-such-platform'",
            "Spice.Rack>=0.5; extra == 'spice'",
        ],
        "extras": ["spice"],
        "python": ">=3.8",
    }),
    ("pantry", "2.1", "2024-04-10", {"requires": ["pantry-shelf"], "yanked": "it spoils"}),
    ("pantry-shelf", "1.0", "2023-01-05", {}),
    ("pantry-shelf", "1.1", "2023-06-05", {}),
    ("pantry-shelf", "2.0", "2024-02-05", {}),
    ("pantry-shelf", "2.1rc1", "2024-02-15", {}),
    ("pantry-shelf", "2.2", "2024-02-20", {"python": ">=42"}),
    ("pantry-shelf", "3.0", "2024-05-05", {}),
    ("pantry-notes", "0.3", "2022-08-01", {"is_source": True}),
    ("pantry-cellar", "1.0", "2022-08-01", {}),
    ("Spice.Rack", "0.4", "2022-08-01", {}),
    ("Spice.Rack", "0.5+local.1", "2023-09-01", {"requires": ["pantry-shelf>=1.1"]}),
    ("pantry-barrel", "1.0", "2022-08-01", {"filling": 24 << 20}),
]


def normalized(name):
    return name.lower().replace("_", "-").replace(".", "-")


def metadata(name, version, details):
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    if "python" in details:
        lines.append(f"Requires-Python: {details['python']}")
    lines += [f"Provides-Extra: {extra}" for extra in details.get("extras", [])]
    lines += [f"Requires-Dist: {requirement}" for requirement in details.get("requires", [])]
    return "\n".join(lines) + "\n\nA test project.\n"


def wheel(name, version, details):
    package = normalized(name).replace("-", "_")
    info = f"{package}-{version}.dist-info"
    contents = {
        f"{package}/__init__.py": f'VERSION = "{version}"\n'.encode(),
        f"{info}/METADATA": metadata(name, version, details).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: pantry\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if filling := details.get("filling"):
        contents[f"{package}/filling"] = random.Random(1).randbytes(filling)
    record = ""
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, content in contents.items():
            method = zipfile.ZIP_STORED if path.endswith("filling") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(path), content, method)
    return f"{package}-{version}-py3-none-any.whl", out.getvalue()


def source(name, version, details):
    package = normalized(name).replace("-", "_")
    contents = {
        "PKG-INFO": metadata(name, version, details),
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND.format(name=package, version=version),
        f"{package}/__init__.py": f'VERSION = "{version}"\n',
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, content in contents.items():
            entry = tarfile.TarInfo(f"{package}-{version}/{path}")
            entry.size = len(content)
            entry.mtime = 1_600_000_000
            archive.addfile(entry, io.BytesIO(content.encode()))
    return f"{package}-{version}.tar.gz", out.getvalue()


def build(folder):
    yanked = {}
    for name, version, uploaded, details in PROJECTS:
        filename, content = (source if details.get("is_source") else wheel)(name, version, details)
        project = folder / "files" / normalized(name)
        project.mkdir(parents=True, exist_ok=True)
        (project / filename).write_bytes(content)
        seconds = calendar.timegm(time.strptime(uploaded, "%Y-%m-%d"))
        os.utime(project / filename, (seconds, seconds))
        if reason := details.get("yanked"):
            yanked.setdefault(normalized(name), {})[filename] = reason
    (folder / "yanked.json").write_text(json.dumps(yanked))


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
