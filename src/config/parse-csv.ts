import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'

const recordsSchema = z.array(z.object({ info: z.object({ lines: z.number() }), record: z.array(z.string()) }))

/** A line of CSV as cells, with the number of the line that it ends on. */
export type CsvRecord = z.infer<typeof recordsSchema>[number]

/** The lines of CSV, header included, blank ones and `#` comments left out; none where it is not CSV, which is refused. */
export function parseCsv(text: string, file: string, refuse: (problem: string) => void): readonly CsvRecord[] {
  try {
    return recordsSchema.parse(
      parse(text, {
        comment: '#',
        comment_no_infix: true,
        info: true,
        relax_column_count: true,
        skip_empty_lines: true,
        trim: true,
      }),
    )
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    refuse(`${file} is not CSV: ${error.message}; quotes should be closed, and doubled inside a cell`)
    return []
  }
}
