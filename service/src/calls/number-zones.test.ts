import { getCountries } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { readNumber } from '../kernel/dialled-number.ts'
import { AREA_CODE_ZONES } from './area-code-zones.ts'
import { COUNTRY_ZONES } from './country-zones.ts'
import { zonesOf } from './number-zones.ts'

const EVERYWHERE = [...(COUNTRY_ZONES.get('US') ?? []), ...(COUNTRY_ZONES.get('CA') ?? [])]

describe('the countries of a number', () => {
  it.each([
    ['+12025550101', ['US']],
    ['+14165550101', ['CA']],
    ['+12425550101', ['BS']],
    ['+18765550101', ['JM']],
    // No such exchange, but the area code tells.
    ['+18761234567', ['JM']],
    ['+18095550101', ['DO']],
    ['+17875550101', ['PR']],
    ['+447400123456', ['GB']],
    ['+441534440099', ['JE']],
    ['+441481256789', ['GG']],
    ['+77012345678', ['KZ']],
    ['+79161234567', ['RU']],
    ['+390612345678', ['IT']],
    ['+390669812345', ['VA']],
    ['+491512345678', ['DE']],
    ['+262692123456', ['RE']],
    ['+80012345678', []],
    ['+881612345678', []],
    ['+999123456', []],
    ['sip:robin@example.com', []],
  ])('%s: %j', (number, expected) => {
    expect(readNumber(number).countries).toEqual(expected)
  })

  it('are all that share the calling code when the digits do not tell', () => {
    expect(readNumber('+15555550100').countries).toHaveLength(25)
    expect(readNumber('+441632960123').countries.toSorted()).toEqual(['GB', 'GG', 'IM', 'JE'])
  })
})

describe('the time zones of a number', () => {
  it.each([
    ['+12025550101', ['America/New_York']],
    ['+13125550101', ['America/Chicago']],
    ['+13035550101', ['America/Denver']],
    ['+16025550101', ['America/Phoenix']],
    ['+14155550101', ['America/Los_Angeles']],
    ['+18085550101', ['Pacific/Honolulu']],
    ['+19075550101', ['America/Anchorage', 'America/Adak']],
    ['+18505550101', ['America/New_York', 'America/Chicago']],
    ['+16055550101', ['America/Chicago', 'America/Denver']],
    ['+12085550101', ['America/Denver', 'America/Los_Angeles']],
    ['+14165550101', ['America/Toronto']],
    ['+16045550101', ['America/Vancouver']],
    ['+12505550101', ['America/Vancouver', 'America/Edmonton', 'America/Creston']],
    ['+17095550101', ['America/St_Johns', 'America/Halifax', 'America/Blanc-Sablon']],
    ['+12425550101', ['America/Nassau']],
    ['+16715550101', ['Pacific/Guam']],
    ['+491512345678', ['Europe/Berlin']],
    ['+447400123456', ['Europe/London']],
    ['+441632960123', ['Europe/London', 'Europe/Guernsey', 'Europe/Isle_of_Man', 'Europe/Jersey']],
    ['+34612345678', ['Europe/Madrid', 'Atlantic/Canary']],
    ['+351912345678', ['Europe/Lisbon', 'Atlantic/Azores']],
    ['+77012345678', ['Asia/Almaty']],
    ['+919876543210', ['Asia/Kolkata']],
    ['+8613812345678', ['Asia/Shanghai']],
    ['+819012345678', ['Asia/Tokyo']],
    ['+64211234567', ['Pacific/Auckland', 'Pacific/Chatham']],
    ['+80012345678', []],
    ['+881612345678', []],
  ])('%s: %j', (number, expected) => {
    expect(zonesOf(readNumber(number)).toSorted()).toEqual(expected.toSorted())
  })

  it.each(['+18005550101', '+15005550006', '+15555550100', '+16005550101', '+12735550101'])(
    'are all of the United States and Canada for %s, which has no place or is newer than we know',
    (number) => {
      expect(zonesOf(readNumber(number)).toSorted()).toEqual([...new Set(EVERYWHERE)].toSorted())
    },
  )

  it('are many in a wide country', () => {
    expect(zonesOf(readNumber('+79161234567'))).toHaveLength(11)
    expect(zonesOf(readNumber('+61412345678'))).toHaveLength(7)
  })
})

describe('the tables', () => {
  it('know every country that has a calling code, and no other', () => {
    expect([...COUNTRY_ZONES.keys()].toSorted()).toEqual(getCountries().toSorted())
  })

  it('name zones that the runtime knows', () => {
    const zones = [...COUNTRY_ZONES.values(), ...AREA_CODE_ZONES.values()].flat()
    for (const zone of new Set(zones)) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
  })

  it('have an area code once, and none of the islands', () => {
    expect(AREA_CODE_ZONES.size).toBeGreaterThan(400)
    for (const code of AREA_CODE_ZONES.keys()) {
      const { countries } = readNumber(`+1${code}2345678`)
      // 25: the code is newer than the numbering plans that we know.
      expect([code, countries.length === 25 || ['US', 'CA'].includes(countries.join())]).toEqual([code, true])
    }
  })

  it('have every area code with a place that the numbering plans know', () => {
    const placeless = /^(5(00|2[1-9]|3[23]|44|66|77|88)|6(00|22|33)|8(00|33|44|55|66|77|88)|900|273)$/
    const codes = Array.from({ length: 800 }, (_, index) => String(200 + index))
    const known = codes.filter((code) => ['US', 'CA'].includes(readNumber(`+1${code}2345678`).countries.join()))
    expect(known.filter((code) => !AREA_CODE_ZONES.has(code) && !placeless.test(code))).toEqual([])
  })
})
