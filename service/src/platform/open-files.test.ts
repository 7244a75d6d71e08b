import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { makeLog } from './log.ts'
import { watchOpenFiles } from './open-files.ts'

describe('the files that a process may have open', () => {
  function watching(limit: number | null) {
    const clock = new TestClock()
    const lines: string[] = []
    const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
    const state: { code: string | null } = { code: null }
    const open = async () => {
      if (state.code !== null) throw Object.assign(new Error('no'), { code: state.code })
    }
    watchOpenFiles({ clock, log, limit, open })
    return { clock, state, said: () => lines.map((line) => JSON.parse(line).msg as string) }
  }

  it('are told where they are few', () => {
    expect(watching(256).said()).toEqual(['few files may be open at once: raise the limit (ulimit -n)'])
    expect([watching(1_024).said(), watching(null).said()]).toEqual([[], []])
  })

  it('are told once when none is left, and once when there are some again', async () => {
    const { clock, state, said } = watching(null)
    for (const code of [null, 'EMFILE', 'EMFILE', null, null, 'ENOENT', 'ENFILE']) {
      state.code = code
      await clock.advance(5_000)
    }
    expect(said()).toEqual([
      'no file can be opened, and no connection taken: raise the limit (ulimit -n)',
      'files can be opened again',
      'no file can be opened, and no connection taken: raise the limit (ulimit -n)',
    ])
  })
})
