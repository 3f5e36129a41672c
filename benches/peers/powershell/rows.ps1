# Rows of the suite `psrp` for PowerShell: its serializer and deserializer, and its client.
#
#     ROW=ROW MILLIS=MS DOCUMENT=FILE SERVER=FILE pwsh -NoProfile -File rows.ps1
#
# DOCUMENT has the CLIXML of the row, as `psrp_documents` of psrp-bench writes it, and SERVER is the example `psrp_server`.
# Prints one JSON object.

$ErrorActionPreference = 'Stop'
$row = $env:ROW
$millis = [double]$env:MILLIS

# The median time of a call in nanoseconds. The compiler of .NET needs calls, and time, before the code is fast.
function Measure-Call([scriptblock]$call) {
    $clock = [Diagnostics.Stopwatch]::StartNew()
    while ($clock.Elapsed.TotalMilliseconds -lt 5 * $millis) { $null = & $call 1 }
    $once = (& $call 10) / 10
    $count = [Math]::Max(1, [int]($millis * 1e5 / $once))
    $times = foreach ($sample in 1..10) { (& $call $count) / $count }
    $sorted = [double[]]$times
    [Array]::Sort($sorted)
    ($sorted[4] + $sorted[5]) / 2
}

function Read-Document {
    $text = [IO.File]::ReadAllText($env:DOCUMENT)
    $script:payload = [Text.Encoding]::UTF8.GetByteCount($text)
    $value = [System.Management.Automation.PSSerializer]::Deserialize($text)
    # What our rows check: objects of a list, or members of an object.
    $script:check = if ($value -is [Collections.IList]) { $value.Count } else { @($value.PSObject.Properties).Count }
    $value
}

function Measure-Read {
    $null = Read-Document
    $text = [IO.File]::ReadAllText($env:DOCUMENT)
    Measure-Call {
        param($count)
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        for ($i = 0; $i -lt $count; $i++) { $null = [System.Management.Automation.PSSerializer]::Deserialize($text) }
        [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
    }
}

# The value is the one that the deserializer reads, so its documents have other type names, and white space.
function Measure-Write {
    $value = Read-Document
    $again = [System.Management.Automation.PSSerializer]::Deserialize([System.Management.Automation.PSSerializer]::Serialize($value, 10))
    $found = if ($again -is [Collections.IList]) { $again.Count } else { @($again.PSObject.Properties).Count }
    if ($found -ne $script:check) { throw "$row`: $found members, expected $script:check" }
    # The length of our document is no length of this one.
    $script:check = $null
    Measure-Call {
        param($count)
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        for ($i = 0; $i -lt $count; $i++) { $null = [System.Management.Automation.PSSerializer]::Serialize($value, 10) }
        [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
    }
}

# An open runspace on the server that a program on standard input and output is.
function Open-Runspace([string]$program, [string[]]$arguments) {
    $flags = [Reflection.BindingFlags]'Instance, Public, NonPublic'
    $instance = [System.Management.Automation.Runspaces.PowerShellProcessInstance]::new($null, $null, $null, $false)
    $start = $instance.Process.StartInfo
    $start.FileName = $program
    $start.Arguments = ''
    $start.ArgumentList.Clear()
    foreach ($argument in $arguments) { $start.ArgumentList.Add($argument) }
    $type = [powershell].Assembly.GetType('System.Management.Automation.Runspaces.NewProcessConnectionInfo')
    $connection = [Activator]::CreateInstance($type, $flags, $null, [object[]]@($null), $null)
    $type.GetProperty('Process', $flags).SetValue($connection, $instance)
    $runspace = [System.Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace($connection)
    $runspace.Open()
    $runspace
}

# From the start of the second pipeline of a session to its end; the first one is a small one.
function Measure-Session {
    $server, $arguments = if ($row -like 'child_powershell_*') {
        $(if ($env:PSRP_TEST_PWSH) { $env:PSRP_TEST_PWSH } else { 'pwsh' }), @('-s', '-NoLogo', '-NoProfile')
    } else { $env:SERVER, @() }
    $runspace = Open-Runspace $server $arguments
    $time = 0
    foreach ($count in 1000, [int]($row -replace '^.*_(\d+)_(in|out)$', '$1')) {
        $pipeline = [powershell]::Create()
        $pipeline.Runspace = $runspace
        $numbers = 1..$count
        $null = $pipeline.AddScript($(if ($row -like '*_in') { '$input' } else { "1..$count" }))
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        $output = if ($row -like '*_in') { $pipeline.Invoke($numbers) } else { $pipeline.Invoke() }
        $time = [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
        $script:check = [long]0
        foreach ($number in $output) { $script:check += $number }
        $pipeline.Dispose()
    }
    $runspace.Dispose()
    $time
}

$payload = $check = $null
$time = switch -Wildcard ($row) {
    'child_*' { Measure-Session }
    'serialize_*' { Measure-Write }
    '*_write' { Measure-Write }
    default { Measure-Read }
}
$culture = [Globalization.CultureInfo]::InvariantCulture
$optional = { param($value) if ($null -eq $value) { 'null' } else { $value.ToString($culture) } }
'{{"key":"psrp/{0}","implementation":"PowerShell","version":"{1}","time_ns":{2},"payload_bytes":{3},"check":{4}}}' -f
    $row, $PSVersionTable.PSVersion, $time.ToString('F1', $culture), (& $optional $payload), (& $optional $check)
