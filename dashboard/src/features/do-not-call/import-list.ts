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

/** Imports a list part by part, and returns what it tells last. It does not throw: what went wrong is in that. */
export async function importList(
  tenantId: string,
  text: string,
  tell: (state: ImportState) => void,
): Promise<ImportState> {
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
    state = { ...state, failure: asFailure(error) }
    tell(state)
  }
  return state
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
