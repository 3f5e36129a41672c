"""Runs pypsrp's client with `wsman.py`, to verify that its responses are like a real server's.

The arguments are the port, and `negotiate` for NTLM with encrypted messages.
"""

import sys
import threading
import time
import uuid

from pypsrp.exceptions import AuthenticationError, WSManFaultError
from pypsrp.host import PSHost, PSHostUserInterface
from pypsrp.powershell import PowerShell, RunspacePool
from pypsrp.wsman import WSMan


class Interface(PSHostUserInterface):
    def ReadLine(self, runspace, pipeline):
        return "typed"


def connection(password="correct horse"):
    port, auth = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "basic"
    user = "EXAMPLE\\user" if auth == "negotiate" else "user"
    return WSMan(
        "127.0.0.1", port=port, username=user, password=password, ssl=False, no_proxy=True, operation_timeout=2,
        auth=auth, encryption="never" if auth == "basic" else "auto",
    )


def run(pool, script, input=None):
    shell = PowerShell(pool)
    shell.add_script(script)
    return shell.invoke((value for value in input) if input else None), shell


try:
    RunspacePool(connection("wrong")).open()
    sys.exit("the wrong password was taken")
except AuthenticationError:
    pass

host = PSHost(None, None, False, "check", None, Interface(), "1.0")
with RunspacePool(connection(), host=host) as pool:
    assert run(pool, "1..1000")[0] == list(range(1, 1001))
    output, shell = run(pool, "Write-Output a; Write-Error b; Write-Warning c; Write-Verbose d; Write-Debug e")
    streams = shell.streams
    assert output == ["a"] and shell.state == 4
    counts = [len(stream) for stream in (streams.error, streams.warning, streams.verbose, streams.debug)]
    assert counts == [1, 1, 1, 1], counts
    shell.close()
    assert run(pool, "$input", [["x", "y"]])[0] == ["x", "y"]
    assert run(pool, "Read-Host")[0] == ["typed"]
    assert run(pool, "New-Text 5000000")[0] == ["x" * 5000000]
    assert run(pool, "Measure-Input", [["y" * 500000]])[0] == [500000]
    # Longer than the operation timeout.
    assert run(pool, "Start-Sleep 3; Write-Output late")[0] == ["late"]
    stopped = PowerShell(pool)
    stopped.add_script("Start-Sleep 60")
    stopped.begin_invoke()
    stopped.stop()

pool = RunspacePool(connection())
pool.open()
left = PowerShell(pool)
left.add_script("Start-Sleep 1; Write-Output after")
left.begin_invoke()
pool.disconnect()
found = [other for other in RunspacePool.get_runspace_pools(connection()) if other.id == pool.id]
assert len(found) == 1 and list(found[0].pipelines) == [left.id.upper()], found
found[0].connect()
assert found[0].pipelines[left.id.upper()].connect() == ["after"]
found[0].close()

try:
    RunspacePool(connection(), configuration_name="Missing").open()
    sys.exit("a missing configuration was found")
except WSManFaultError as fault:
    assert fault.code == 2150859065, fault
print("agreed")
