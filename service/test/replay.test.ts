import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packChunk } from '../src/voice/event-log/chunks.ts'
import { replayed } from './harness/replayed.ts'
import { scratchFolder } from './harness/scratch.ts'
import { GOLDEN_CALL, GOLDEN_LIMIT_MS } from './virtual/golden-call.ts'
import { World } from './virtual/world.ts'

const ID = '0190a000-0000-7000-8000-00000000000'
const [SAME, OTHER, TORN, NONE] = [1, 2, 3, 4].map((n) => `${ID}${n}`) as [string, string, string, string]

let dataDir: string
beforeAll(async () => {
  dataDir = await scratchFolder()
  const world = new World(GOLDEN_CALL)
  world.begin()
  await world.run(GOLDEN_LIMIT_MS)
  const { text } = world.log
  await keep(SAME, text)
  await keep(OTHER, text.replace('"timeoutMs":3000', '"timeoutMs":4000'))
  await keep(TORN, text.slice(0, text.length / 2))
})
afterAll(() => rm(dataDir, { recursive: true }))

async function keep(id: string, text: string): Promise<void> {
  const folder = join(dataDir, 'event-logs', 'acme', id)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, '1.events'), packChunk(text))
}

describe('npm run replay', () => {
  it('ends with 0 where the same follows as then', async () => {
    const { code, said } = await replayed(dataDir, SAME)
    expect([code, said]).toEqual([0, expect.stringContaining('the same follows; ended by agent_hangup')])
  })

  it('ends with 1 and shows the first difference', async () => {
    const { code, said } = await replayed(dataDir, OTHER)
    expect(code).toBe(1)
    expect(said).toMatch(/event \{"type":"dtmf".*\n\s+then {2}.*\+dtmf 3000.*\n\s+now {3}.*\+dtmf 4000/)
  })

  it('runs what there is of a log that was cut off, and says that it is not all', async () => {
    const { code, said } = await replayed(dataDir, TORN, '--show')
    expect([code, said]).toEqual([0, expect.stringContaining('which is all that was written of it')])
    expect(said).toContain('→  ')
  })

  it('ends with 1 where there is no log, and with 2 where it is not told of which session', async () => {
    expect(await replayed(dataDir, NONE)).toMatchObject({ code: 1, said: expect.stringContaining('There is no log') })
    expect(await replayed(dataDir, '../..')).toMatchObject({ code: 2, said: expect.stringContaining('npm run replay') })
    expect(await replayed(dataDir)).toMatchObject({ code: 2 })
  })
})
