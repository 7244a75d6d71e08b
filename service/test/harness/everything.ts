import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/schema.ts'

/** The rows of all tables whose text, in whatever column, has one of the words, as `table: row` without ids. */
export async function rowsWith(db: Db, words: readonly string[]): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`.execute(db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(name)} t`.execute(db)
    const made = rows.map(({ text }) => unmade(text)).filter((text) => hasAny(text, words))
    found.push(...made.map((text) => `${name}: ${text}`))
  }
  return found
}

/** A text without ids and digests (as a column of bytes shows them too), which have any four digits by chance. */
export function unmade(text: string): string {
  return text.replaceAll(/(?<![0-9a-f])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{64})(?![0-9a-f])/g, '')
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
