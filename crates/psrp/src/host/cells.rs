//! Cells of the screen buffer.

use super::ConsoleColor;
use crate::Error;
use crate::error::Kind;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, Mismatch, object_struct, open_enum};
use crate::value::Value;

open_enum! {
    /// Part of a character that a cell shows: characters take one cell or two
    /// (`System.Management.Automation.Host.BufferCellType`, MS-PSRP 2.2.3.29).
    #[derive(Default)]
    pub enum BufferCellType {
        /// The whole character.
        #[default]
        Complete = 0,
        /// The left half.
        Leading = 1,
        /// The right half.
        Trailing = 2,
    }
}

object_struct! {
    /// A cell of the screen buffer (`System.Management.Automation.Host.BufferCell`, MS-PSRP 2.2.3.28).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct BufferCell {
        /// The character as a UTF-16 code unit.
        pub character: u16 => "character",
        /// Colour of the character.
        pub foreground_color: ConsoleColor => "foregroundColor",
        /// Background colour.
        pub background_color: ConsoleColor => "backgroundColor",
        /// Part of the character that the cell shows.
        pub buffer_cell_type: BufferCellType => "bufferCellType" [or BufferCellType::Complete],
    }
}

/// Rectangle of cells in row-major order (`System.Management.Automation.Host.BufferCell[,]`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellBuffer {
    cells: Vec<BufferCell>,
    rows: usize,
    columns: usize,
}

impl CellBuffer {
    /// Creates a rectangle from its cells in row-major order.
    ///
    /// # Errors
    ///
    /// Fails if the number of cells is not rows times columns ([`Error::is_mismatch`]).
    pub fn new(rows: usize, columns: usize, cells: Vec<BufferCell>) -> Result<Self, Error> {
        if rows.checked_mul(columns) != Some(cells.len())
            || [rows, columns].iter().any(|n| i32::try_from(*n).is_err())
        {
            return Err(Error::with(Kind::Mismatch, Self::LENGTH));
        }
        Ok(Self { cells, rows, columns })
    }

    const LENGTH: &'static str = "does not have rows times columns cells";

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of cells per row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns all cells in row-major order.
    pub fn cells(&self) -> &[BufferCell] {
        &self.cells
    }

    /// Returns the cell at a row and column, counted from 0.
    pub fn get(&self, row: usize, column: usize) -> Option<&BufferCell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get(row.checked_mul(self.columns)?.checked_add(column)?)
    }
}

/// Encoded as a two-dimensional array: the elements, then the dimensions.
impl Field for CellBuffer {
    fn write(&self) -> Value {
        let length = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let mut out = MemberWriter::default();
        out.put("mae", &self.cells);
        out.put("mal", &vec![length(self.rows), length(self.columns)]);
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        let cells: Vec<BufferCell> = from.required("mae")?;
        let lengths: Vec<i32> = from.required("mal")?;
        let lengths: Vec<usize> = lengths.into_iter().filter_map(|length| length.try_into().ok()).collect();
        match lengths[..] {
            [rows, columns] if rows.checked_mul(columns) == Some(cells.len()) => {
                Ok(Self { cells, rows, columns })
            }
            _ => Err(Mismatch::new(Self::LENGTH)),
        }
    }
}
