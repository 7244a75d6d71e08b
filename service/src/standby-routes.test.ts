import { describe, expect, it } from 'vitest'
import { ROLE_TABLE } from './role-table.ts'
import { STANDBY_ROUTES, servesInStandby } from './standby-routes.ts'

describe('a process that stands by', () => {
  it('serves no route by a name that none has', () => {
    expect([...STANDBY_ROUTES].filter((name) => !(name in ROLE_TABLE))).toEqual([])
  })

  it('serves what reads, and refuses what nobody thought of', () => {
    expect(servesInStandby('GET', '/api/v1/call-logs')).toBe(true)
    expect(servesInStandby('HEAD', '/livez')).toBe(true)
    expect(servesInStandby('GET', '/media-stream/:token')).toBe(false)
    expect(servesInStandby('POST', '/api/v1/new')).toBe(false)
  })
})
