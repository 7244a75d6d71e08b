import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/schema.ts'

/** The rows of all tables whose text, in whatever column, has one of the words, as `table: row`. */
export async function rowsWith(db: Db, words: readonly string[]): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`.execute(db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(name)} t`.execute(db)
    found.push(...rows.filter(({ text }) => hasAny(unmade(text), words)).map(({ text }) => `${name}: ${text}`))
  }
  return found
}

/** A text without ids and digests, which have any four digits in them by chance. */
export function unmade(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{64}\b/g, '')
}

/** The files below a folder whose bytes have one of the words; those below `except` are not looked at. */
export async function filesWith(folder: string, words: readonly string[], except = 'database'): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found: string[] = []
  for (const path of paths) {
    if (path.startsWith(join(folder, except))) continue
    if (hasAny(await readFile(path, 'latin1'), words)) found.push(path)
  }
  return found
}

function hasAny(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word))
}
