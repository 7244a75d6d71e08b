import { describe, expect, it } from 'vitest'
import { placeAfterLogin } from './place-after-login.ts'

describe('whoever has logged in', () => {
  it.each([
    ['/app/t/acme/calls?status=failed', 'acme', '/app/t/acme/calls?status=failed'],
    ['/app/t/acme/calls', null, '/app/t/acme/calls'],
    ['/app/t/globex/calls', 'acme', '/app/'],
    ['/app/t/acme-2', 'acme', '/app/'],
    ['/app/audit-log', 'acme', '/app/audit-log'],
    ['https://elsewhere.example/app/', 'acme', '/app/'],
    [undefined, null, '/app/'],
  ])('who wanted to go to %s, of tenant %j, comes to %s', (wanted, tenantId, place) => {
    expect(placeAfterLogin(wanted, tenantId)).toBe(place)
  })
})
