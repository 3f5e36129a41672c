"""An index of the files that build.py has written, by simple-repository-server: index.py FOLDER.

Tells its port, and then a line for each request.
"""

import dataclasses
import email
import hashlib
import pathlib
import socket
import sys
import zipfile

import fastapi
import httpx
import uvicorn
from simple_repository.components import core, local, metadata_injector, yanking
from simple_repository_server.routers import simple


class Described(core.RepositoryContainer):
    """What a folder alone does not tell: the hashes of its files, and the versions of Python that they are for."""

    def __init__(self, repository, folder):
        super().__init__(repository)
        self.folder = folder

    async def get_project_page(self, project_name, *, request_context=None):
        page = await super().get_project_page(project_name, request_context=request_context)

        def described(file):
            path = self.folder / project_name / file.filename
            requires_python = None
            if file.filename.endswith(".whl"):
                with zipfile.ZipFile(path) as wheel:
                    name = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
                    requires_python = email.message_from_bytes(wheel.read(name))["Requires-Python"]
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            return dataclasses.replace(file, hashes={"sha256": digest}, requires_python=requires_python)

        return dataclasses.replace(page, files=tuple(described(file) for file in page.files))


class Told:
    """Tells of each request when its answer begins."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def told(message):
            if message["type"] == "http.response.start":
                print(scope["method"], scope["path"], message["status"], flush=True)
            await send(message)

        await self.app(scope, receive, told if scope["type"] == "http" else send)


def main():
    folder = pathlib.Path(sys.argv[1])
    client = httpx.AsyncClient(trust_env=False)
    repository = Described(local.LocalRepository(folder / "files"), folder / "files")
    repository = yanking.YankRepository(repository, yanking.GlobYankProvider(folder / "yanked.json"))
    repository = metadata_injector.MetadataInjectorRepository(repository, client)
    app = fastapi.FastAPI(openapi_url=None)
    app.include_router(simple.build_router(repository, http_client=client))
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(Told(app), lifespan="off", log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
