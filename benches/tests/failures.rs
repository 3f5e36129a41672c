//! A suite whose peers fail in every way. The rest of the suite must run on, and the report must say what failed.
//!
//! The program is both: the suite when it has arguments, and the test of the suite otherwise.

use std::process::{Command, ExitCode, Output};
use std::{env, fs};

use bench_report::model::Report;
use benches::{Impl, Suite};

benches::counting_allocator!();

const CLASS: &str = "sum";

fn main() -> ExitCode {
    if env::args().len() > 1 {
        return benches::main("demo", env!("CARGO_TARGET_TMPDIR"), rows);
    }
    let folder = env::temp_dir().join(format!("benches-failures-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let run = |arguments: &[&str]| {
        let peers = folder.join("peers.json");
        fs::write(&peers, PEERS).unwrap();
        let program = env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args(["--bench", "--no-criterion"]).args(arguments);
        command.env("BENCH_REPORT", &folder).env("BENCH_PEERS", peers).output().unwrap()
    };
    failures_of_peers_are_recorded(&run(&["demo/peers"]), &folder.join("suites/demo.json"));
    let ours = run(&["demo/ours"]);
    let errors = String::from_utf8_lossy(&ours.stderr);
    assert!(!ours.status.success() && errors.contains("demo/ours/ours: failed: check value 2"), "{errors}");
    let unknown = run(&["NO_SUCH_ROW"]);
    let text = String::from_utf8_lossy(&unknown.stdout);
    assert!(unknown.status.success() && text.contains("no benchmark has NO_SUCH_ROW in its name"), "{text}");
    fs::remove_dir_all(&folder).unwrap();
    ExitCode::SUCCESS
}

/// A program that ends at its first request, and one that does not exist.
const PEERS: &str = r#"[
    {"system": "demo", "language": "sh", "command": ["sh", "-c", "exit 3"], "directory": "/",
     "implementations": [{"name": "ends", "class": "sum", "role": "peer", "rows": ["peers"]}]},
    {"system": "demo", "language": "none", "command": ["no-such-program"], "directory": "/",
     "implementations": [{"name": "missing", "class": "sum", "role": "peer", "rows": ["peers"]}]}
]"#;

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    let numbers: Vec<u64> = (0..1000).collect();
    let sum = || std::hint::black_box(&numbers).iter().sum();
    let expected = 499_500;
    suite
        .row("peers")
        .run(Impl::ours("ours").class(CLASS), expected, sum)
        .run(Impl::peer("right", "1").class(CLASS), expected, sum)
        .run(Impl::peer("wrong", "1").class(CLASS), expected, || 1)
        .run(Impl::peer("panics", "1").class(CLASS), expected, || panic!("no such feature"))
        .run(Impl::peer("aborts", "1").class(CLASS), expected, || std::process::abort());
    suite.row("ours").run(Impl::ours("ours").class(CLASS), expected, || 2);
    Ok(())
}

fn failures_of_peers_are_recorded(output: &Output, report: &std::path::Path) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let report: Report = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let remark = |name: &str| {
        let row = report.rows.iter().find(|row| row.implementation == name);
        row.unwrap_or_else(|| panic!("{name} is missing")).remark.clone().unwrap_or_default()
    };
    for (name, part) in [
        ("right", ""),
        ("wrong", "check value 1, expected 499500"),
        ("panics", "panicked: no such feature"),
        ("aborts", "the process ended with signal"),
        ("ends", "ended"),
        ("missing", "cannot be started"),
    ] {
        assert!(remark(name).contains(part), "{name}: {}", remark(name));
        assert!(part.is_empty() || text.contains(part), "{name} is not mentioned: {text}");
    }
    let duels: Vec<&str> = report.duels.iter().map(|duel| duel.peer.as_str()).collect();
    assert_eq!(duels, ["right", "ours"], "only what works is compared");
}
