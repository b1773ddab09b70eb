"""Files to rows: what came in, checked cell by cell, before anything is stored. Knows no Django."""
