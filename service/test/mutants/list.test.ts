import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MUTANTS } from './list.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

it('names places that are there, once each', async () => {
  const stale: string[] = []
  for (const { name, file, find } of MUTANTS) {
    const source = await readFile(join(ROOT, file), 'utf8')
    if (source.split(find).length !== 2) stale.push(name)
  }
  expect(stale).toEqual([])
})
