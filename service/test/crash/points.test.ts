import { describe, expect, it } from 'vitest'
import type { Moment } from './moments.ts'
import { MISSING_POINTS, POINTS } from './points.ts'

const TURNS = 'insert into "transcript_turns" ("tenant_id") values ($1)'
const REVOKED = 'update "api_keys" set "revoked_at" = coalesce("revoked_at", $1) where "id" = $2'

function namesAt(moment: Moment): string[] {
  return POINTS.filter((point) => point.way === 'at-once' && point.is(moment)).map(({ name }) => name)
}

function database(when: 'before' | 'after', statement: string, transaction: string[] = []): Moment {
  return { where: 'database', when, statement, transaction }
}

describe('the named moments', () => {
  it('have names of their own', () => {
    const names = [...POINTS, ...MISSING_POINTS].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('know the commit of what they are about', () => {
    expect(namesAt(database('before', 'commit', ['begin', 'select 1', TURNS]))).toEqual(['before-turn-commit'])
    expect(namesAt(database('after', 'commit', ['begin', 'select 1', TURNS]))).toEqual(['after-turn-commit'])
    expect(namesAt(database('before', TURNS, ['begin', 'select 1']))).toEqual(['turn-buffered'])
    expect(namesAt(database('before', 'rollback', ['begin', TURNS]))).toEqual([])
  })

  it('take a statement outside of a transaction for its own commit', () => {
    expect(namesAt(database('after', REVOKED))).toEqual(['after-key-revoke-commit'])
    expect(namesAt(database('after', REVOKED, ['begin']))).toEqual([])
  })

  it('know the requests around a dial', () => {
    const path = '/2010-04-01/Accounts/AC1/Calls.json'
    expect(namesAt({ where: 'carrier', when: 'before', method: 'POST', path })).toEqual(['before-dial'])
    expect(namesAt({ where: 'carrier', when: 'before', method: 'GET', path })).toEqual([])
    const asked = { where: 'client' as const, method: 'POST', path: '/api/v1/make-call' }
    expect(namesAt({ ...asked, when: 'after' })).toEqual(['before-2xx'])
    expect(namesAt({ ...asked, when: 'told' })).toEqual(['after-2xx'])
  })
})
