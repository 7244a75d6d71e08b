import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../kernel/errors.ts'
import { loadOrCreateKey as loadOrCreate } from './key-file.ts'

describe('loadOrCreateKey', () => {
  let folder: string
  const loadOrCreateKey = (path: string) => loadOrCreate(path, async () => {})

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-key-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('makes one key, readable by the owner alone, and finds it again', async () => {
    const made = await loadOrCreateKey(join(folder, 'new'))
    expect(made).toHaveLength(32)
    expect(await loadOrCreateKey(join(folder, 'new'))).toEqual(made)
    expect((await stat(join(folder, 'new', 'encryption.key'))).mode & 0o777).toBe(0o600)
  })

  it('gives the same key to all that start at once, and leaves no draft', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKey(folder)))
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1)
    expect(await readdir(folder)).toEqual(['encryption.key'])
  })

  it('refuses a file that holds no key instead of replacing it', async () => {
    await writeFile(join(folder, 'encryption.key'), 'not a key')
    await expect(loadOrCreateKey(folder)).rejects.toThrow(/Restore it, or set ENCRYPTION_KEY/)
  })

  it('makes none where another one was in use', async () => {
    const lost = new AppError('unavailable', 'The key was lost.')
    await expect(loadOrCreate(folder, () => Promise.reject(lost))).rejects.toBe(lost)
    expect(await readdir(folder)).toEqual([])
  })

  it('says of a folder that cannot be used which setting names it', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(loadOrCreateKey(file)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(loadOrCreateKey(file)).rejects.toThrow(/file cannot hold a key \(.*Set DATA_DIR/)
  })
})
