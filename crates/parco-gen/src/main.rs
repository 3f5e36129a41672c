//! `parco`: generates types from schemas, prints messages, and compares schemas.

mod calls;
mod code;
mod go;
mod model;
mod names;
mod python;
mod typescript;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};
use tightwire_parco::WireExt as _;
use tightwire_parco::schema::{Compatibility, Schema, Value, compare};

use self::model::Model;

/// Work with schemas and messages of parco
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate types with encoder and decoder from a schema
    ///
    /// Creates a file with the types, and one with the run-time code that all generated files of a folder share. Existing
    /// files are replaced.
    Generate {
        /// Schema as JSON
        #[arg(value_name = "SCHEMA")]
        schema: PathBuf,
        /// Language of the types
        #[arg(long, value_name = "LANGUAGE")]
        language: Language,
        /// Folder to create the files in
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        output: PathBuf,
        /// Name of the file, without extension [default: the name of the message]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Package of the files in Go
        #[arg(long, value_name = "PACKAGE", default_value = "messages")]
        package: String,
    },
    /// Print messages as JSON, one per line
    Inspect {
        /// File with messages one after the other, or `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Schema of the messages as JSON
        #[arg(long, value_name = "SCHEMA")]
        schema: PathBuf,
    },
    /// Compare two schemas and print their differences
    ///
    /// The exit code is 0 if both sides read each other's messages, 3 if only old readers read new messages, 4 if only new
    /// readers read old messages, 5 if neither, and 1 if a schema cannot be read.
    Diff {
        /// Old schema as JSON
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// New schema as JSON
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Language {
    Go,
    Python,
    Typescript,
}

fn main() -> Result<ExitCode> {
    match Cli::parse().command {
        Command::Generate { schema, language, output, name, package } => {
            generate(&read_schema(&schema)?, language, &output, name, &package)?;
        }
        Command::Inspect { file, schema } => inspect(&file, &read_schema(&schema)?)?,
        Command::Diff { old, new } => return diff(&read_schema(&old)?, &read_schema(&new)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn read_schema(path: &Path) -> Result<Schema> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Schema::from_json(&text).with_context(|| format!("{} is not a schema", path.display()))
}

fn generate(
    schema: &Schema,
    language: Language,
    output: &Path,
    name: Option<String>,
    package: &str,
) -> Result<()> {
    let model = Model::of(schema)?;
    let (extension, types, runtime) = match language {
        Language::Go => ("go", go::generate(&model, package), go::runtime(package)),
        Language::Python => ("py", python::generate(&model), python::RUNTIME.to_owned()),
        Language::Typescript => ("ts", typescript::generate(&model), typescript::RUNTIME.to_owned()),
    };
    let name = name.unwrap_or_else(|| match language {
        // In Go, names such as `unit_test` and `image_linux` have a meaning.
        Language::Go => names::snake(&model.types[0].name).replace('_', ""),
        _ => names::snake(&model.types[0].name),
    });
    if name == "parco" || matches!(language, Language::Python) && python::is_reserved_module(&name) {
        bail!("`{name}` is a keyword or the name of a module that the generated code imports (set --name)");
    }
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    for (name, text) in [(&*name, types), ("parco", runtime)] {
        let path = output.join(format!("{name}.{extension}"));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn inspect(path: &Path, schema: &Schema) -> Result<()> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
    let wire = schema.compile()?;
    let mut output = io::stdout().lock();
    let mut rest = &*bytes;
    loop {
        let at = bytes.len() - rest.len();
        let (value, after) =
            wire.decode::<Value>(rest).with_context(|| format!("cannot decode the message at byte {at}"))?;
        let is_open = is_open(writeln!(output, "{}", wire.value_to_json(&value)?))?;
        if after.is_empty() || !is_open {
            return Ok(());
        }
        if after.len() == rest.len() {
            bail!("{} bytes follow a message without bytes", rest.len());
        }
        rest = after;
    }
}

fn diff(old: &Schema, new: &Schema) -> Result<ExitCode> {
    let comparison = compare(old, new);
    is_open(write!(io::stdout(), "{comparison}"))?;
    Ok(ExitCode::from(code_of(&comparison)))
}

/// Returns whether the output is open after writing: a program such as `head` closes it when it has read enough.
fn is_open(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

fn code_of(comparison: &Compatibility) -> u8 {
    match (comparison.old_reads_new(), comparison.new_reads_old()) {
        (true, true) => 0,
        (true, false) => 3,
        (false, true) => 4,
        (false, false) => 5,
    }
}
