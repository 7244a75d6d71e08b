import { rm } from 'node:fs/promises'
import { afterAll, beforeAll } from 'vitest'
import { scratchFolder } from './scratch.ts'

/** Settings whose `DATA_DIR` is a folder of the test file's own, there for as long as its tests run. */
export function useDataFolder(): { DATA_DIR: string } {
  const settings = { DATA_DIR: '' }
  beforeAll(async () => {
    settings.DATA_DIR = await scratchFolder()
  })
  afterAll(() => rm(settings.DATA_DIR, { recursive: true }))
  return settings
}
