import { getCountries, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { readNumber } from './dialled-number.ts'
import { costlyKind } from './premium-numbers.ts'

const PREMIUM = 'a premium-rate number'
const SHARED = 'a shared-cost number'
const SATELLITE = 'a satellite phone'
const PERSONAL = 'a personal number'

describe('what is never called', () => {
  it.each([
    ['+19005551234', PREMIUM],
    ['+19001234567', PREMIUM],
    ['+12129761234', PREMIUM],
    ['+14169761234', PREMIUM],
    ['+442079460101', null],
    ['+449011234567', PREMIUM],
    ['+449098765432', PREMIUM],
    ['+448712345678', PREMIUM],
    ['+448434567890', PREMIUM],
    ['+447012345678', PERSONAL],
    ['+447911123456', null],
    ['+448001111111', null],
    ['+49900112345', PREMIUM],
    ['+49900212345', PREMIUM],
    ['+491377123456', PREMIUM],
    ['+491805123456', SHARED],
    ['+493012345678', null],
    ['+498001234567', null],
    ['+33899123456', PREMIUM],
    ['+33892123456', PREMIUM],
    ['+33811234567', SHARED],
    ['+33142685300', null],
    ['+33801234567', null],
    ['+34803123456', PREMIUM],
    ['+34905123456', PREMIUM],
    ['+34902123456', SHARED],
    ['+34912345678', null],
    ['+39899123456', PREMIUM],
    ['+39892123', PREMIUM],
    ['+390612345678', null],
    ['+393123456789', null],
    ['+41900123456', PREMIUM],
    ['+41906123456', PREMIUM],
    ['+41844123456', SHARED],
    ['+41442345678', null],
    ['+43900123456', PREMIUM],
    ['+43930123456', PREMIUM],
    ['+4315012345', null],
    ['+31900123456', PREMIUM],
    ['+31906123456', PREMIUM],
    ['+31201234567', null],
    ['+3290212345', PREMIUM],
    ['+3292345678', null],
    ['+3531520123456', PREMIUM],
    ['+35315241234', null],
    ['+3531850123456', SHARED],
    ['+46900123456', PREMIUM],
    ['+4690123456', null],
    ['+4682012345', null],
    ['+4782012345', PREMIUM],
    ['+4782912345', PREMIUM],
    ['+4522123456', null],
    ['+4590123456', PREMIUM],
    ['+358600123456', PREMIUM],
    ['+48700123456', PREMIUM],
    ['+48601234567', null],
    ['+420900123456', PREMIUM],
    ['+351601123456', PREMIUM],
    ['+78091234567', PREMIUM],
    ['+79161234567', null],
    ['+61190212345', PREMIUM],
    ['+611300123456', SHARED],
    ['+61412345678', null],
    ['+64900123456', PREMIUM],
    ['+6493451234', null],
    ['+819012345678', null],
    ['+81990123456', PREMIUM],
    ['+6519001234567', PREMIUM],
    ['+972190012345', PREMIUM],
    ['+27862123456', PREMIUM],
    ['+27821234567', null],
    ['+905012345678', null],
    ['+909001234567', PREMIUM],
    // What belongs to no country.
    ['+97912345678', PREMIUM],
    ['+80812345678', SHARED],
    ['+80012345678', null],
    ['+870773123456', SATELLITE],
    ['+881612345678', SATELLITE],
    ['+88213123456', SATELLITE],
    ['+883510012345', SATELLITE],
    ['+87812345678', PERSONAL],
    // Fraud likes the islands, but which countries are called is the tenant's to say.
    ['+18765550101', null],
    ['+12425550101', null],
    ['+18095550101', null],
    ['+12025550101', null],
    ['+15555550100', null],
  ])('%s: %s', (number, expected) => {
    expect(costlyKind(readNumber(number))).toBe(expected)
  })

  it('is no mobile number of any country', () => {
    const refused = getCountries().filter((country) => {
      const number = getExampleNumber(country, examples)
      return number && costlyKind(readNumber(number.number)) !== null
    })
    expect(refused).toEqual([])
  })
})
