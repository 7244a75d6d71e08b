import type { Look } from './chromium.ts'

export const WIDE: Look = { width: 1280, colorScheme: 'light' }
export const NARROW: Look = { width: 390, colorScheme: 'dark' }
export const LOOKS: readonly Look[] = [WIDE, NARROW]

/** Whether everything is to be looked at, and not what every change must pass. */
export const IS_FULL = process.env['PARLEY_TEST_FULL'] === '1'
