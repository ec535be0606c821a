//! An array in a new shape, staged: chunks that are made anew are written past the end, then the list of chunks, the
//! geometry and the metalayer change together. Visible at the next commit.

use crate::array::Array;
use crate::array::compression::array_params;
use crate::array::grid::Grid;
use crate::array::partition::growing;
use crate::array::reshape::part::AxisParts;
use crate::array::reshape::recipe::Changed;
use crate::array::reshape::recipe::Incoming;
use crate::array::reshape::recipe::Plain;
use crate::array::reshape::recipe::Recipe;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::Result;

impl Array {
    /// Gives the array the axes `axes`; visible after the next commit.
    pub(super) fn stage_shape(&mut self, axes: &[AxisParts], incoming: Incoming<'_>) -> Result<()> {
        if axes.iter().all(AxisParts::is_kept) {
            return Ok(());
        }
        self.schunk.check_writable()?;
        let shape: Vec<u64> = axes.iter().map(AxisParts::len).collect();
        let grid = self.regrid(&shape)?;
        grid.check_writable()?;
        let metalayer = self.metalayer_of(&grid)?;
        let params = array_params(self.schunk.params().clone(), &grid)?;
        self.remember_geometry();
        if grid.nchunks() == 0 && self.grid.nchunks() == 0 {
            return self.take_geometry(grid, params, &metalayer);
        }
        if grid.chunk_bytes() as u64 != u64::from(self.schunk.chunksize()) && grid.nchunks() > 0 {
            self.schunk.set_chunksize(grid.chunk_bytes() as u32, &params)?;
        }
        let fill = match &incoming {
            Incoming::Fill { special, value: None } => *special,
            _ => Special::Zeros,
        };
        let (context, processing) = (self.context_of(&grid), self.schunk.processing().clone());
        let recipe = Recipe { grid: &grid, axes, incoming, params: params.clone(), context, processing };
        // An array of nothing but the fill value stays one, at no cost for each chunk.
        let filled = matches!(recipe.incoming, Incoming::Fill { value: None, .. });
        let same = filled && self.schunk.uniform()? == Some(fill);
        let changed = if same { Vec::new() } else { recipe.changed(Some(self))? };
        let before = self.schunk.nchunks();
        self.make(&recipe, &changed)?;
        let mut changes = changed.iter().peekable();
        let mut made = before;
        self.schunk.relayout(grid.nchunks(), fill, |n| {
            match changes.next_if(|(changed, _)| *changed == n) {
                Some((_, Some(_))) => None,
                Some((_, None)) => {
                    made += 1;
                    Some(made - 1)
                }
                None => match recipe.plain(&grid.chunk_position(n), Some(&self.grid)) {
                    Plain::Old(old) => Some(old),
                    Plain::Special(_) | Plain::Other => None,
                },
            }
        })?;
        for (n, special) in &changed {
            if let Some(kind) = special.filter(|&kind| kind != fill) {
                self.schunk.put_special(*n, kind)?;
            }
        }
        self.take_geometry(grid, params, &metalayer)
    }

    fn take_geometry(&mut self, grid: Grid, params: Params, metalayer: &[u8]) -> Result<()> {
        self.schunk.stage_metalayer(self.metalayer_name(), metalayer)?;
        self.set_geometry(grid, params);
        Ok(())
    }
    /// Writes the chunks that are made anew, as chunks behind those that there are.
    fn make(&mut self, recipe: &Recipe<'_>, changed: &[Changed]) -> Result<()> {
        let made: Vec<u64> =
            changed.iter().filter(|(_, special)| special.is_none()).map(|(n, _)| *n).collect();
        if made.is_empty() {
            return Ok(());
        }
        recipe.grid.check_chunk(self.schunk.limits())?;
        let before = self.schunk.nchunks();
        let count = before.saturating_add(made.len() as u64);
        self.schunk.relayout(count, Special::Zeros, |n| (n < before).then_some(n))?;
        let exec = self.schunk.exec().clone();
        let mut slots = before..;
        for numbers in made.chunks(recipe.batch_len(&exec)) {
            for (chunk, slot) in recipe.batch(numbers, Some(self), &exec)?.iter().zip(&mut slots) {
                self.schunk.put_chunk(slot, chunk)?;
            }
        }
        Ok(())
    }

    /// Fills an array that is new and all zeros.
    pub(super) fn stage_whole(&mut self, axes: &[AxisParts], incoming: Incoming<'_>) -> Result<()> {
        let (grid, params) = (self.grid.clone(), self.schunk.params().clone());
        let (context, processing) = (self.context_of(&grid), self.schunk.processing().clone());
        let recipe = Recipe { grid: &grid, axes, incoming, params, context, processing };
        let exec = self.schunk.exec().clone();
        let mut made = Vec::new();
        for (n, special) in recipe.changed(None)? {
            match special {
                Some(kind) => self.schunk.put_special(n, kind)?,
                None => made.push(n),
            }
        }
        if !made.is_empty() {
            grid.check_chunk(self.schunk.limits())?;
        }
        for numbers in made.chunks(recipe.batch_len(&exec)) {
            for (chunk, &n) in recipe.batch(numbers, None, &exec)?.iter().zip(numbers) {
                self.schunk.put_chunk(n, chunk)?;
            }
        }
        Ok(())
    }

    /// The geometry of the array with another shape: the same chunks and blocks, where there are any.
    fn regrid(&self, shape: &[u64]) -> Result<Grid> {
        let (chunks, blocks) = (self.chunks(), self.blocks());
        let open = shape.iter().zip(chunks.iter().zip(blocks));
        if open.into_iter().all(|(&length, (&chunk, &block))| length == 0 || (chunk > 0 && block > 0)) {
            return Grid::new(shape, chunks, blocks, self.grid.itemsize());
        }
        let (chunks, blocks) = growing(chunks, blocks, self.grid.itemsize());
        Grid::new(shape, &chunks, &blocks, self.grid.itemsize())
    }
}
