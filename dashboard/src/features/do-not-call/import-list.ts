import { asFailure } from '../../api/failure.ts'
import { csvParts } from './csv-parts.ts'
import { type Imported, importEntries } from './list-queries.ts'

/** How far an import has come. */
export type ImportState = Imported & {
  /** From 0 to 1. */
  done: number
  /** What ended it before its time: what came before that is listed. */
  failure: unknown
}

const NOTHING: ImportState = { imported: 0, duplicates: 0, rejected: 0, errors: [], done: 0, failure: null }

/** Imports a list part by part. It does not throw: what went wrong is in what it tells last. */
export async function importList(tenantId: string, text: string, tell: (state: ImportState) => void): Promise<void> {
  const parts = csvParts(text)
  let state = NOTHING
  tell(state)
  try {
    for (const [index, { csv, before }] of parts.entries()) {
      const part = await importEntries(tenantId, csv)
      state = added(state, part, before)
      state = { ...state, done: (index + 1) / parts.length }
      tell(state)
    }
  } catch (error) {
    tell({ ...state, failure: asFailure(error) })
  }
}

function added(state: ImportState, part: Imported, before: number): ImportState {
  return {
    ...state,
    imported: state.imported + part.imported,
    duplicates: state.duplicates + part.duplicates,
    rejected: state.rejected + part.rejected,
    errors: [...state.errors, ...part.errors.map(({ line, error }) => ({ line: line + before, error }))],
  }
}
