//! Python literals: the strings, numbers, tuples, lists and dicts that dtype texts and `.npy` headers consist of.
//!
//! Data only: nothing is evaluated. Depth and length are bounded, so that no text can exhaust the stack or memory.

use crate::error::{Error, Result};

/// The longest text that is parsed, in bytes.
pub(crate) const MAX_LEN: usize = 1 << 20;
/// How deep tuples, lists and dicts may be nested.
const MAX_DEPTH: usize = 24;

/// One parsed literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer; those outside `i64` are refused.
    Int(i64),
    /// A text.
    Str(String),
    /// `(1, 2)`.
    Tuple(Vec<Literal>),
    /// `[1, 2]`.
    List(Vec<Literal>),
    /// `{'a': 1}`, in the order of the text.
    Dict(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Parses a whole text, with white space around it allowed.
    pub(crate) fn parse(text: &str) -> Result<Literal> {
        if text.len() > MAX_LEN {
            return Err(Error::limit("a Python literal", text.len() as u64, MAX_LEN as u64));
        }
        let mut parser = Parser { rest: text };
        let value = parser.value(0)?;
        parser.skip_space();
        if parser.rest.is_empty() { Ok(value) } else { Err(parser.fault("the end of the text")) }
    }

    /// The elements of a tuple or a list.
    pub(crate) fn sequence(&self) -> Option<&[Literal]> {
        match self {
            Literal::Tuple(items) | Literal::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key in a dict; the last one wins, as in Python.
    pub(crate) fn get(&self, key: &str) -> Option<&Literal> {
        let Literal::Dict(pairs) = self else { return None };
        pairs.iter().rev().find(|(k, _)| matches!(k, Literal::Str(k) if k == key)).map(|(_, value)| value)
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn fault(&self, expected: &str) -> Error {
        let near: String = self.rest.chars().take(12).collect();
        Error::syntax(&near, format!("not a Python literal: expected {expected} at {near:?}"))
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
    }

    fn eat(&mut self, token: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Literal> {
        if depth >= MAX_DEPTH {
            return Err(Error::syntax(self.rest, "not a Python literal: nested too deeply"));
        }
        if self.eat('(') {
            return self.parenthesis(depth);
        }
        if self.eat('[') {
            return Ok(Literal::List(self.elements(depth, ']')?.0));
        }
        if self.eat('{') {
            return self.dict(depth);
        }
        match self.rest.chars().next() {
            Some('\'' | '"') => self.strings(),
            Some('u' | 'U') if self.rest[1..].starts_with(['\'', '"']) => self.strings(),
            Some('0'..='9' | '-' | '+') => self.number(),
            _ => self.word(),
        }
    }

    /// Elements up to `close`, and whether there was a comma.
    fn elements(&mut self, depth: usize, close: char) -> Result<(Vec<Literal>, bool)> {
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            if self.eat(close) {
                return Ok((items, comma));
            }
            items.push(self.value(depth + 1)?);
            if self.eat(',') {
                comma = true;
            } else if self.eat(close) {
                return Ok((items, comma));
            } else {
                return Err(self.fault("',' or a closing bracket"));
            }
        }
    }

    fn parenthesis(&mut self, depth: usize) -> Result<Literal> {
        let (mut items, comma) = self.elements(depth, ')')?;
        match (items.len(), comma) {
            // `(1)` is 1 in parentheses, `(1,)` a tuple.
            (1, false) => Ok(items.remove(0)),
            _ => Ok(Literal::Tuple(items)),
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Literal> {
        let mut pairs = Vec::new();
        loop {
            if self.eat('}') {
                return Ok(Literal::Dict(pairs));
            }
            let key = self.value(depth + 1)?;
            if !self.eat(':') {
                return Err(self.fault("':'"));
            }
            pairs.push((key, self.value(depth + 1)?));
            if !self.eat(',') && !self.rest.starts_with('}') {
                return Err(self.fault("',' or '}'"));
            }
        }
    }

    fn word(&mut self) -> Result<Literal> {
        for (word, value) in
            [("None", Literal::None), ("True", Literal::Bool(true)), ("False", Literal::Bool(false))]
        {
            let ends = |rest: &&str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if let Some(rest) = self.rest.strip_prefix(word).filter(ends) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.fault("a value"))
    }

    fn number(&mut self) -> Result<Literal> {
        let sign = usize::from(self.rest.starts_with(['-', '+']));
        let digits = self.rest.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
        let Some((number, rest)) = self.rest.split_at_checked(sign + digits) else {
            return Err(self.fault("a number"));
        };
        // Python 2 wrote its long integers with an L.
        let rest = rest.strip_prefix('L').unwrap_or(rest);
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.') {
            return Err(self.fault("an integer"));
        }
        let value = number.parse().map_err(|_| self.fault("an integer of 64 bits"))?;
        self.rest = rest;
        Ok(Literal::Int(value))
    }

    /// One string, or several in a row, which Python joins.
    fn strings(&mut self) -> Result<Literal> {
        let mut text = String::new();
        loop {
            self.skip_space();
            let unprefixed = self.rest.strip_prefix(['u', 'U']).unwrap_or(self.rest);
            let Some(quote @ ('\'' | '"')) = unprefixed.chars().next() else { return Ok(Literal::Str(text)) };
            self.rest = &unprefixed[1..];
            if self.rest.starts_with(quote) && self.rest[1..].starts_with(quote) {
                return Err(self.fault("a string on one line"));
            }
            self.string_body(quote, &mut text)?;
        }
    }

    fn string_body(&mut self, quote: char, text: &mut String) -> Result<()> {
        let mut chars = self.rest.chars();
        loop {
            match chars.next() {
                Some(c) if c == quote => {
                    self.rest = chars.as_str();
                    return Ok(());
                }
                Some('\\') => {
                    self.rest = chars.as_str();
                    self.escape(text)?;
                    chars = self.rest.chars();
                }
                None | Some('\n' | '\r' | '\0') => return Err(self.fault("the closing quote")),
                Some(c) => text.push(c),
            }
        }
    }

    /// Parses what follows a backslash.
    fn escape(&mut self, text: &mut String) -> Result<()> {
        let Some(c) = self.rest.chars().next() else { return Err(self.fault("the closing quote")) };
        let plain = match c {
            '\\' | '\'' | '"' => c,
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => return self.code_point(text, 1, 2, 16),
            'u' => return self.code_point(text, 1, 4, 16),
            'U' => return self.code_point(text, 1, 8, 16),
            '0'..='7' => {
                let octal = self.rest.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                return self.code_point(text, 0, octal, 8);
            }
            '\n' => {
                self.rest = &self.rest[1..];
                return Ok(());
            }
            _ => return Err(self.fault("a known escape")),
        };
        text.push(plain);
        self.rest = &self.rest[c.len_utf8()..];
        Ok(())
    }

    fn code_point(&mut self, text: &mut String, skip: usize, digits: usize, radix: u32) -> Result<()> {
        let code = self
            .rest
            .get(skip..skip + digits)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u32::from_str_radix(hex, radix).ok())
            .and_then(char::from_u32);
        let Some(code) = code else { return Err(self.fault("a character code")) };
        text.push(code);
        self.rest = &self.rest[skip + digits..];
        Ok(())
    }
}
