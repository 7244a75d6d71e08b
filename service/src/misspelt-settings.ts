import { SETTING_NAMES } from './config.ts'

/** Shorter names are like too many others. */
const MIN_NAME = 6
/** In so long a name two letters may be wrong, in a shorter one a single one. */
const LONG_NAME = 8

/** A variable that nobody reads, and the setting that may have been meant. */
export type Misspelt = { variable: string; meant: string }

/** Variables that are all but called as a setting is that is not given: whoever has set them thinks that they do something. */
export function misspeltIn(env: Record<string, string | undefined>): Misspelt[] {
  const unset = SETTING_NAMES.filter((name) => name.length >= MIN_NAME && !env[name])
  const others = Object.keys(env).filter((name) => env[name] && !SETTING_NAMES.includes(name))
  return others.flatMap((variable) => {
    const meant = unset.find((name) => isNearly(variable, name))
    return meant === undefined ? [] : [{ variable, meant }]
  })
}

function isNearly(variable: string, name: string): boolean {
  const most = name.length >= LONG_NAME ? 2 : 1
  return Math.abs(variable.length - name.length) <= most && distance(variable.toUpperCase(), name) <= most
}

/** How many letters are left out, put in, put for another or swapped with their neighbour (optimal string alignment). */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)]
  const cell = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= from.length; i++) {
    rows.push([i])
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      rows[i]?.push(
        Math.min(
          ...[cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (isSame ? 0 : 1)],
          ...(isSwapped ? [cell(i - 2, j - 2) + 1] : []),
        ),
      )
    }
  }
  return cell(from.length, to.length)
}
