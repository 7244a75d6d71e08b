import { rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { env } from 'node:process'
import { expect, it } from 'vitest'
import { scratchFolder } from './scratch.ts'

it('a folder of a test lies in those of its run, with which it goes when nobody removed it', async () => {
  const folder = await scratchFolder()
  expect([env['PARLEY_TEST_SCRATCH'], tmpdir()]).toContain(dirname(folder))
  await rmdir(folder)
})
