//! Apache Parquet, without compression: the columns' dictionaries take most of what repeats.

use super::Error;
use super::rows::{COLUMNS, Decisions, Kind, Row, places};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde_json::{Number, Value};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows that are held in memory and written together.
const GROUP: usize = 16_384;

/// Writes groups of columns.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Vec<Row>,
}

impl<W: Write + Send> Writer<W> {
    pub(super) fn new(out: W) -> Result<Self, Error> {
        let fields = COLUMNS.map(|(name, kind)| match kind {
            Kind::Text => format!("OPTIONAL BYTE_ARRAY {name} (UTF8);"),
            Kind::Integer => format!("OPTIONAL INT64 {name};"),
            Kind::Real => format!("OPTIONAL DOUBLE {name};"),
        });
        let schema = format!("message decisions {{ {} }}", fields.concat());
        let schema = Arc::new(parse_message_type(&schema)?);
        Ok(Self {
            file: SerializedFileWriter::new(out, schema, Arc::default())?,
            rows: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, row: Row) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() >= GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.write_group()?;
        self.file.close()?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for (place, (_, kind)) in COLUMNS.iter().enumerate() {
            if let Some(column) = group.next_column()? {
                write_column(column, *kind, self.rows.iter().map(|row| &row[place]))?;
            }
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }
}

fn write_column<'a>(
    mut column: SerializedColumnWriter<'_>,
    kind: Kind,
    values: impl Iterator<Item = &'a Value> + Clone,
) -> Result<(), Error> {
    let given = values.clone().filter(|value| !value.is_null());
    // 1: there is a value, 0: there is none.
    let levels: Vec<i16> = values.map(|value| i16::from(!value.is_null())).collect();
    match kind {
        Kind::Text => {
            let texts = given.map(|value| ByteArray::from(value.as_str().unwrap_or_default()));
            let texts: Vec<_> = texts.collect();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&texts, Some(&levels), None)?;
        }
        Kind::Integer => {
            let integers: Vec<_> = given.map(integer).collect();
            let typed = column.typed::<Int64Type>();
            typed.write_batch(&integers, Some(&levels), None)?;
        }
        Kind::Real => {
            let reals: Vec<_> = given.map(|v| v.as_f64().unwrap_or(f64::NAN)).collect();
            let typed = column.typed::<DoubleType>();
            typed.write_batch(&reals, Some(&levels), None)?;
        }
    }
    column.close()?;
    Ok(())
}

/// Counters of octets beyond 2^63 do not occur.
fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MAX)
}

pub(super) fn read(file: File, decisions: &mut Decisions) -> Result<(), Error> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let places = places(schema.columns().iter().map(|column| column.name()))?;
    for row in reader.get_row_iter(None)? {
        let row = row?;
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let values = places.iter().map(|place| {
            let field = place.and_then(|place| fields.get(place));
            field.map_or(Value::Null, |field| value(field))
        });
        decisions.add(values.collect())?;
    }
    Ok(())
}

/// What is of none of the columns' types is told when the decision is made of it.
fn value(field: &Field) -> Value {
    match field {
        Field::Str(text) => text.as_str().into(),
        Field::Long(number) => (*number).into(),
        Field::Int(number) => (*number).into(),
        Field::Double(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        _ => Value::Null,
    }
}
