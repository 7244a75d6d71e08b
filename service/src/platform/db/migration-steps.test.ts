import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { MIGRATION_STEPS } from './migration-steps.ts'

const STEPS = new URL('steps/', import.meta.url)

/**
 * What each was when it landed. A migration's file has its checksum in every database; its step has none there, as what runs is made of more
 * than its text: whoever changed one would have new databases differ from those that were brought up to date, and nobody would see it.
 */
const LANDED: Record<string, string> = {
  '0108-number-spellings.ts': '4efd0a3d12e07018393d6ccbfd28e966cb4f491f4921ab9c226b7e28a8b21ab9',
  '0110-contact-spellings.ts': '996e3a4f449b9efd21c8bfaa0a5a3d8add6d94470e2944c3b647fdae49572b27',
}

/** However it is laid out. */
async function checksumOf(file: string): Promise<string> {
  const text = await readFile(new URL(file, STEPS), 'utf8')
  return createHash('sha256').update(text.replaceAll(/\s+/g, '')).digest('hex')
}

describe('a step of a migration', () => {
  it.each(Object.entries(LANDED))('is never changed once it has landed: %s', async (file, checksum) => {
    expect(await checksumOf(file), 'write a new migration in its place').toBe(checksum)
  })

  it('has a file of its own, which is written down here', async () => {
    expect((await readdir(STEPS)).sort()).toEqual(Object.keys(LANDED))
    const numbers = Object.keys(MIGRATION_STEPS).map((name) => name.slice(0, 4))
    expect(numbers).toEqual(Object.keys(LANDED).map((file) => file.slice(0, 4)))
  })
})
