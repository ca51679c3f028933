//! `cantor decode`: any E2AP, E42 or service-model octets as text or JSON.

use super::{UsageError, tree::Tree};
use crate::capture::{
    Capture, Framing, Pdu, describe,
    payload::{self, Part},
    session::{Model, Session},
};
use anyhow::Context as _;
use e2sm::{aper::Notes, e2ap::Version, flexric, kpm};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{self, BufWriter, Cursor, Write},
    path::Path,
};

const EXAMPLES: &str = "\
Examples:
  cantor decode session.pcap
  cantor decode session.pcap --brief
  cantor decode recording.e2.jsonl.gz --json | jq 'select(.message == \"RICindication\")'
  cantor decode 20090012000002001d00050003fd0000000500020002
  xxd -p message.bin | cantor decode - --as kpm-message

Reads pcap and pcapng files with SCTP, recorder streams (JSON lines with t, dir and hex), hex
text and raw octets, each also gzipped. Service models are told by the RAN functions that the
recording's own setup announces, else by FlexRIC's fixed ids. A PDU that cannot be decoded is
named with its place, octet offset and IE path, and the rest goes on; the exit code is then 1.";

/// Print E2AP, E42 and service-model octets in readable form
#[derive(Debug, clap::Args)]
#[command(after_help = super::after_help(EXAMPLES))]
pub struct Args {
    /// Files, hex digits, or - for standard input
    #[arg(required = true, value_name = "FILE|HEX|-")]
    input: Vec<String>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,

    /// One line per PDU, without its contents
    #[arg(long, conflicts_with = "json")]
    brief: bool,

    /// E2AP version, where it is not to be told from the PDUs
    #[arg(long, value_name = "VERSION", value_parser = version)]
    e2ap_version: Option<Version>,

    /// What the octets are, if not E2AP
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Kind>,
}

/// Octets of a service model without E2AP around them.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    KpmHeader,
    KpmMessage,
    KpmTrigger,
    KpmAction,
    KpmDefinition,
    Mac,
    Rlc,
    Pdcp,
    Gtp,
    Slice,
}

pub(super) fn version(text: &str) -> Result<Version, String> {
    let known = || Version::ALL.map(Version::as_str).join(", ");
    Version::ALL
        .into_iter()
        .find(|version| version.as_str() == text)
        .ok_or_else(|| format!("known versions are {}", known()))
}

impl Kind {
    fn model_and_part(self) -> (Model, Part) {
        let kpm = Model::Kpm {
            version: kpm::Version::V2,
            dialect: None,
        };
        let plain = |model| (Model::FlexRic(model), Part::Message);
        match self {
            Self::KpmHeader => (kpm, Part::Header),
            Self::KpmMessage => (kpm, Part::Message),
            Self::KpmTrigger => (kpm, Part::Trigger),
            Self::KpmAction => (kpm, Part::Action),
            Self::KpmDefinition => (kpm, Part::Definition),
            Self::Mac => plain(flexric::Model::Mac),
            Self::Rlc => plain(flexric::Model::Rlc),
            Self::Pdcp => plain(flexric::Model::Pdcp),
            Self::Gtp => plain(flexric::Model::Gtp),
            Self::Slice => plain(flexric::Model::Slice),
        }
    }
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let framing = if self.kind.is_some() {
            Framing::Whole
        } else {
            Framing::E2ap
        };
        let mut out = BufWriter::new(io::stdout().lock());
        let several_files =
            self.input.len() > 1 && self.input.iter().all(|name| Path::new(name).exists());
        let result = if several_files {
            let mut sum = Ok((0, 0));
            for name in &self.input {
                let capture = open(std::slice::from_ref(name), framing)?;
                sum = sum.and_then(|(failed, all)| {
                    if !self.json {
                        writeln!(out, "{name}:")?;
                    }
                    let (more_failed, more) = self.print(capture, &mut out)?;
                    Ok((failed + more_failed, all + more))
                });
            }
            sum
        } else {
            self.print(open(&self.input, framing)?, &mut out)
        };
        let result = result.and_then(|counts| {
            out.flush()?;
            Ok(counts)
        });
        match result {
            Ok((0, _)) => Ok(()),
            Ok((failed, all)) => {
                anyhow::bail!("{failed} of {all} PDUs could not be decoded in full")
            }
            // The reader has seen enough (`| head`).
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Prints all PDUs; gives the number of those that failed, and of all.
    fn print(&self, mut capture: Capture, out: &mut impl Write) -> io::Result<(u64, u64)> {
        let mut session = Session::new(self.e2ap_version);
        let (mut failed, mut all) = (0, 0);
        for pdu in capture.by_ref() {
            all += 1;
            let shown = match &pdu {
                Ok(pdu) => self.decode(&mut session, pdu),
                Err(error) => Shown::error(error.to_string()),
            };
            failed += u64::from(!shown.errors.is_empty());
            match &pdu {
                Ok(pdu) => self.show(pdu, &shown, out)?,
                Err(_) if self.json => writeln!(out, "{}", json!({ "errors": shown.errors }))?,
                Err(_) => shown
                    .errors
                    .iter()
                    .try_for_each(|error| writeln!(out, "error: {error}"))?,
            }
        }
        for (what, count) in capture.skipped() {
            super::tell(format_args!("cantor: passed over {count} packets: {what}"));
        }
        if all == 0 {
            super::tell(format_args!("cantor: no PDU in the input"));
        }
        Ok((failed, all))
    }

    fn decode(&self, session: &mut Session, pdu: &Pdu) -> Shown {
        let Some(kind) = self.kind else {
            return match describe(session, pdu) {
                Ok(description) => Shown {
                    name: description.name.into(),
                    version: Some(description.version),
                    contents: description.contents,
                    notes: description.notes,
                    errors: description.errors,
                },
                Err(error) => Shown::error(error.to_string()),
            };
        };
        let (model, part) = kind.model_and_part();
        match payload::decode(model, part, &pdu.octets) {
            Ok(decoded) => {
                let (contents, notes) = decoded.unwrap_or_default();
                Shown {
                    name: format!("{kind:?}"),
                    contents,
                    notes,
                    ..Shown::default()
                }
            }
            Err(error) => Shown::error(error.to_string()),
        }
    }

    fn show(&self, pdu: &Pdu, shown: &Shown, out: &mut impl Write) -> io::Result<()> {
        if self.json {
            return writeln!(out, "{}", shown.json(pdu));
        }
        write!(out, "{}", pdu.place)?;
        if let Some(time) = pdu.time {
            write!(out, "  {}.{:06}", time.as_secs(), time.subsec_micros())?;
        }
        if let Some(route) = &pdu.route {
            write!(out, "  {route}")?;
        }
        if let Some(direction) = pdu.direction {
            write!(out, "  {direction}")?;
        }
        let name = if shown.name.is_empty() {
            "?"
        } else {
            &shown.name
        };
        write!(out, "  {name}  {} octets", pdu.octets.len())?;
        match shown.version {
            Some(version) => writeln!(out, "  E2AP {version}")?,
            None => writeln!(out)?,
        }
        if !self.brief {
            indented(out, &Tree(&shown.contents).to_string())?;
            if shown.notes.skipped() > 0 {
                writeln!(out, "  skipped: {}", skipped(&shown.notes))?;
            }
        }
        for error in &shown.errors {
            writeln!(out, "  error: {error}")?;
        }
        if self.brief { Ok(()) } else { writeln!(out) }
    }
}

/// What is shown of a PDU.
#[derive(Default)]
struct Shown {
    name: String,
    version: Option<Version>,
    contents: Value,
    notes: Notes,
    errors: Vec<String>,
}

impl Shown {
    fn error(error: String) -> Self {
        Self {
            errors: vec![error],
            ..Self::default()
        }
    }

    fn json(&self, pdu: &Pdu) -> Value {
        let mut value = json!({
            "place": pdu.place,
            "time": pdu.time.map(|time| time.as_secs_f64()),
            "association": pdu.association,
            "direction": pdu.direction,
            "route": pdu.route,
            "ppid": pdu.payload_protocol,
            "e2ap_version": self.version,
            "octets": pdu.octets.len(),
            "message": (!self.name.is_empty()).then_some(&self.name),
            "contents": self.contents,
        });
        if self.notes.skipped() > 0 {
            value["skipped"] = serde_json::to_value(&self.notes).unwrap_or_default();
        }
        if !self.errors.is_empty() {
            value["errors"] = json!(self.errors);
            value["hex"] = hex::encode(&pdu.octets).into();
        }
        value
    }
}

fn skipped(notes: &Notes) -> String {
    let counts = [
        (notes.extension_additions, "extension additions"),
        (notes.choice_alternatives, "CHOICE alternatives"),
        (notes.enumerated_values, "ENUMERATED values"),
        (notes.trailing_octets, "trailing octets"),
        (notes.duplicate_ies, "duplicate IEs"),
        (notes.unknown_ie_count, "unknown IEs"),
    ];
    let said: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let ids: Vec<_> = notes
        .unknown_ies
        .iter()
        .map(|ie| ie.id.to_string())
        .collect();
    match ids.is_empty() {
        true => said.join(", "),
        false => format!("{} (ids {})", said.join(", "), ids.join(", ")),
    }
}

fn indented(out: &mut impl Write, text: &str) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "  {line}"))
}

/// A file, `-`, or hex digits given right here.
pub(super) fn open(input: &[String], framing: Framing) -> anyhow::Result<Capture> {
    let joined = input.join(" ");
    match input {
        [one] if one == "-" => Ok(Capture::open(io::stdin(), framing)?),
        [one] if Path::new(one).is_dir() => {
            Err(UsageError(format!("{one:?} is a folder: name the files in it")).into())
        }
        // Not only regular files: the shell's <(zcat FILE) is a pipe.
        [one] if Path::new(one).exists() => {
            let file = File::open(one).with_context(|| format!("cannot open {one:?}"))?;
            Capture::open(file, framing).with_context(|| format!("{one:?}"))
        }
        _ if joined.chars().all(|c| {
            c.is_ascii_hexdigit() || matches!(c, 'x' | ':' | ',') || c.is_whitespace()
        }) =>
        {
            Ok(Capture::open(Cursor::new(joined), framing)?)
        }
        _ => Err(UsageError(format!("{joined:?} is neither a file nor hex digits")).into()),
    }
}
