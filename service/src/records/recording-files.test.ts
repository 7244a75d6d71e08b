import { execFile } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { makeRecordingFiles } from './recording-files.ts'

/** As many as Node has threads for files. */
const HANGING = 4

it('of a folder that hangs hold up no other file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recordings-'))
  const pipes = Array.from({ length: HANGING }, (_, n) => `${n}.wav`)
  await promisify(execFile)(
    'mkfifo',
    pipes.map((name) => join(folder, name)),
  )
  const files = makeRecordingFiles(folder)
  // To open a pipe that nobody writes to takes for as long as nobody does.
  const opening = pipes.map((name) => files.open(name))
  onTestFinished(async () => {
    for (const name of pipes) openSync(join(folder, name), 'r+')
    for (const file of await Promise.all(opening)) await file.close()
  })
  expect(await readFile(import.meta.filename, 'utf8')).toContain('hold up no other file')
})
