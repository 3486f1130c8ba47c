-- The pipeline behind an export, by name, and the receipt that covers it. For older rows from the
-- records of runs; unknown where there is none.
ALTER TABLE published ADD COLUMN pipeline TEXT;
ALTER TABLE published ADD COLUMN receipt TEXT;
UPDATE published SET pipeline = made.pipeline, receipt = made.receipt
FROM (
  WITH
    files (run, pipeline, started_at, path) AS (
      SELECT runs.id, runs.pipeline, runs.started_at, json_extract(file.value, '$.path')
      FROM runs,
        json_each(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.published') AS file
    ),
    proofs (run, path) AS (
      SELECT files.run, min(files.path) FROM files JOIN receipts ON receipts.path = files.path
      GROUP BY files.run
    )
  SELECT files.path AS path, files.pipeline AS pipeline, proofs.path AS receipt,
    max(files.started_at)
  FROM files LEFT JOIN proofs ON proofs.run = files.run GROUP BY files.path
) AS made
WHERE published.path = made.path AND published.recording_path IS NOT NULL;
