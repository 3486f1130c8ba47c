-- Documents about delivered files, which are delivered behind them. Such a row is pending until its files
-- are confirmed, and has no bytes before. made_of is what it is made of, as JSON: the numbers of the
-- files, and what is said besides; null for files that are there. One document is made of it once.
-- local is what of this machine its making needs, as JSON.
ALTER TABLE deliveries ADD COLUMN made_of TEXT;
ALTER TABLE deliveries ADD COLUMN local TEXT;
CREATE UNIQUE INDEX deliveries_by_parts ON deliveries (destination, made_of) WHERE made_of IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (id) WHERE state = 'pending';
CREATE INDEX deliveries_documents ON deliveries (digest) WHERE made_of IS NOT NULL;
