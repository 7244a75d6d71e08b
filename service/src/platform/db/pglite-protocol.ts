/** What the worker is started with; a null folder keeps everything in memory. */
export type WorkerStart = { folder: string | null; pid: number }

/** One statement, or several when `parameters` is null. Parameters are PostgreSQL's text form. */
export type QueryRequest = { id: number; sql: string; parameters: (string | null)[] | null }

/** `close` is the last message; the worker's exit answers it. */
export type Request = QueryRequest | 'close'

/**
 * Rows as PostgreSQL's text, in the order of `columns`: they are parsed where they are used. Names and types apart, and arrays without
 * holes: as objects, or in arrays that were made by their length, they cost twice as much to copy to the other thread.
 */
export type RawResult = {
  command: string
  affectedRows: number
  columns: { names: string[]; typeIds: number[] }
  rows: (string | null)[][]
}

/** The fields of a PostgreSQL error that callers look at. */
export type RawError = { message: string } & { [field in (typeof ERROR_FIELDS)[number]]?: string }

/** Copied one by one: what PGlite hangs onto its errors includes the parameters, which may be secrets. */
export const ERROR_FIELDS = [
  'severity',
  'code',
  'detail',
  'hint',
  'position',
  'where',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'routine',
] as const

/**
 * `ready` or `refused` comes first and once, then an answer for every request in their order.
 * `refused`: the folder cannot be used; its message is for the operator.
 */
export type Response =
  | { type: 'ready' }
  | { type: 'refused'; message: string }
  | { type: 'result'; id: number; result: RawResult }
  | { type: 'error'; id: number; error: RawError }
