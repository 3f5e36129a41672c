"""Records sessions between PowerShell's client and PowerShell's server.

record_powershell.py PWSH FOLDER    writes a file per session; PWSH is the test build
record_powershell.py tee FILE CMD...  runs a server and records the lines of both directions
"""

import base64
import os
import re
import subprocess
import sys
import threading

SECRET = "$s = [Security.SecureString]::new(); foreach ($c in [char[]]'pass') { $s.AppendChar($c) }; "
# File name, server options, and client arguments; SERVER is replaced by the server command.
SESSIONS = [
    ("input", "", ["-client", "SERVER", "in:1, 'two', $null", "$input | ForEach-Object { \"<$_>\" }"]),
    ("stop", "", ["-client", "SERVER", "stop:400 'begun'; while ($true) { }", "'usable'"]),
    ("early-stop", "", ["-client", "SERVER", "stop:0 while ($true) { }"]),
    # The server counts calls per script from 1, so each script needs its own session.
    ("host", "", ["-client", "SERVER", "host",
        "Write-Host hi; $Host.UI.ReadLine(); $Host.UI.PromptForChoice('c', 'm', @('&a', '&b'), 0)"]),
    ("host-secrets", "", ["-client", "SERVER", "host",
        "$Host.UI.ReadLineAsSecureString(); $Host.UI.PromptForCredential('c', 'm', 'ada', 't')"]),
    ("host-screen", "", ["-client", "SERVER", "host",
        "$Host.UI.RawUI.WindowTitle; $Host.UI.RawUI.ReadKey('NoEcho, IncludeKeyDown').Character; "
        "$Host.UI.RawUI.GetBufferContents([Management.Automation.Host.Rectangle]::new(0, 0, 1, 1)).Length"]),
    ("failed-start", "-InitialCommand \"throw 'startup says no'\"", ["-client", "SERVER", "1"]),
    ("pool", "", ["-Command", "$p = [Real]::Pool('SERVER', 1, 4); $p.GetAvailableRunspaces(); $p.SetMaxRunspaces(3); "
        "$p.SetMinRunspaces(2); $p.GetAvailableRunspaces(); foreach ($n in 1..3) { $ps = [powershell]::Create(); "
        "$ps.RunspacePool = $p; [void]$ps.AddScript(\"$n\"); $ps.Invoke() }; $p.Close()"]),
    ("reset", "", ["-Command", "$r = [Real]::Open('SERVER', $false); $r.ResetRunspaceState(); $r.Close()"]),
    ("streams", "", ["-client", "SERVER", "$VerbosePreference = $DebugPreference = 'Continue'; Write-Information i "
        "-Tags t; Write-Warning w; Write-Verbose v; Write-Debug d; Write-Error e; "
        "Write-Progress a -Status s -PercentComplete 50; @{ k = 1, 2 }; [datetime]'2020-01-02'", "throw 'away'"]),
    ("secrets", "", ["-client", "SERVER", "ps:" + SECRET + "[void]$ps.AddScript('param($s, $c) $s.Length; $s; $c')"
        ".AddArgument($s).AddArgument([pscredential]::new('ada', $s))"]),
    ("metadata", "", ["-client", "SERVER", "ps:[void]$ps.AddCommand('Get-Command').AddParameter('Name', @('Where-Object')); "
        "$flags = [Reflection.BindingFlags]'NonPublic, Instance'; "
        "$ps.GetType().GetProperty('IsGetCommandMetadataSpecialPipeline', $flags).SetValue($ps, $true)"]),
]


def anonymous(line):
    """Replaces the names of machine and user by names of the same length."""
    start, data, end = re.fullmatch(rb"(<Data [^>]*>|)([^<]*)(.*)", line, re.S).groups()
    if not start:
        return line
    names = rb'(N="(?:Computer|User)">)([^<]*)'
    data = re.sub(names, lambda found: found[1] + b"x" * len(found[2]), base64.b64decode(data))
    return start + base64.b64encode(data) + end


def tee(file, command):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = threading.Lock()
    with open(file, "wb", buffering=0) as log:

        def copy(source, target, direction):
            for line in iter(source.readline, b""):
                with lock:
                    log.write(direction + anonymous(line.strip()) + b"\n")
                try:
                    target.write(line)
                    target.flush()
                except OSError:
                    break
            try:
                target.close()
            except OSError:
                pass

        client = (sys.stdin.buffer, server.stdin, b"> ")
        threading.Thread(target=copy, args=client, daemon=True).start()
        copy(server.stdout, sys.stdout.buffer, b"< ")
        os._exit(server.wait())


def record(pwsh, folder):
    for name, options, arguments in SESSIONS:
        file = os.path.join(folder, name + ".txt")
        server = f"{sys.executable} {os.path.abspath(__file__)} tee {os.path.abspath(file)} {pwsh} -s {options}"
        command = [text.replace("SERVER", server) for text in arguments]
        print(name, subprocess.run([pwsh, *command], timeout=60).returncode)


if sys.argv[1] == "tee":
    tee(sys.argv[2], sys.argv[3:])
else:
    record(sys.argv[1], sys.argv[2])
