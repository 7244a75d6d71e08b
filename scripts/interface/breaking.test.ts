import { describe, expect, it } from 'vitest'
import type { BrokenRun } from '../../service/test/interface/broken-routes.ts'
import { by, endpoint, openEndpoint } from '../../service/test/interface/row.ts'
import { argumentsOf, planOf, verdictOf } from './breaking.ts'

const TEST = by('src/some.db', 'is read (and written)')
const READ = endpoint('GET /some', 'getSome', TEST)
const WRITE = endpoint('PUT /some', 'putSome', TEST)
const ROWS = [READ, openEndpoint('GET /later'), WRITE]

const run = (route: string | null, isRed: boolean, asked = 1): BrokenRun => ({ ...TEST, route, isRed, asked })

describe('the breaking of routes', () => {
  it('runs each test once for each of its routes', () => {
    const plan = planOf(ROWS)
    expect(plan).toEqual({ [TEST.file]: { [TEST.test]: ['GET /some', 'PUT /some'] } })
    const told = argumentsOf(plan)
    expect(told).toEqual(expect.arrayContaining([TEST.file, '--retry', '5']))
    expect(new RegExp(told.at(-1) ?? '').test(`something ${TEST.test}`)).toBe(true)
    expect(new RegExp(told.at(-1) ?? '').test(`${TEST.test} too`)).toBe(false)
  })

  it.each([
    ['noticed', [run('GET /some', true), run(null, false)]],
    ['noticed', [run('GET /some', true), run(null, true), run(null, false)]],
    ['stays green', [run('GET /some', false), run(null, false)]],
    ['never asks', [run('GET /some', true, 0), run(null, false)]],
    ['noticed', [run('GET /some', true, 0), run('GET /some', true), run(null, false)]],
    ['fails anyway', [run('GET /some', true), run(null, true)]],
    ['not run', [run('PUT /some', true), run(null, false)]],
  ] as const)('says that a row %s by what came of its test', (verdict, runs) => {
    expect(verdictOf(READ, [...runs])).toBe(verdict)
  })
})
