import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isOfEveryChange, ON_ONE_DATABASE } from './one-database.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const { embedded, server } = ON_ONE_DATABASE
const having = (files: readonly string[], words: RegExp) =>
  files.filter((path) => words.test(readFileSync(join(ROOT, path), 'utf8')))

describe('the files that run on one database', () => {
  it('are there, each on one of them', () => {
    const all = [...embedded, ...server]
    expect(all.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    expect(all.filter((path, at) => all.indexOf(path) !== at)).toEqual([])
  })

  it('have no part for the other one alone', () => {
    expect(having(embedded, /kind === 'server'|kind === 'embedded'\) return|onOneDatabase\(/)).toEqual([])
    expect(having(server, /(?:run|skip)If\(.*'embedded'/)).toEqual([])
  })

  it('ask for nothing at once where transactions cannot overlap, but for those known here', () => {
    const known = [
      // Asked are capacity, credentials and refusals, and not who of them is first.
      'service/src/calls/call-progress-routes.db.test.ts',
      'service/src/voice/live-routes.db.test.ts',
      'service/src/voice/stream-begin.db.test.ts',
      'service/test/canary.db.test.ts',
      'service/test/isolation.db.test.ts',
      // What was acknowledged is there after a kill, whoever wrote it beside whom.
      'service/test/kill.db.test.ts',
    ]
    expect(having(embedded, /Promise\.all\(/)).toEqual(known)
  })
})

describe('a run of the tests', () => {
  it.each([
    { args: [], is: true },
    { args: ['--bail=1'], is: true },
    { args: ['--full'], is: false },
    { args: ['service/src/kernel'], is: false },
    { args: ['--project', 'server', 'service/test/call'], is: false },
    { args: ['--project=server'], is: false },
    { args: ['-t', 'a call'], is: false },
    { args: ['-t=a call'], is: false },
    { args: ['--testNamePattern=a call'], is: false },
    { args: ['--changed'], is: false },
  ])('with $args is that of every change: $is', ({ args, is }) => {
    expect(isOfEveryChange(args)).toBe(is)
  })
})
