import { describe, expect, it } from 'vitest'
import { redactorFor } from '../src/kernel/redaction/redact.ts'
import { generatedLines } from './redaction/generated-lines.ts'
import { WRITTEN_PLAIN, WRITTEN_PLANTED } from './redaction/written-lines.ts'

const SEED = 20_261
const PLANT = /\{(card|phone|email|digits):([^}]*)\}/g
const TOKEN = /\[(card|phone|email|digits)\]/g
const redactor = redactorFor(true)

type Judged = { planted: number; found: number; named: number; tokens: number; faults: string[] }

const turnOf = (text: string) => redactor.turn({ text, unheard: '' }).text

/** Between what stands around the plants there has to be a token, and nothing else. */
function judge(line: string): Judged {
  const plants = Array.from(line.matchAll(PLANT), ([, kind, text]) => ({ kind, text: text ?? '' }))
  const told = turnOf(line.replace(PLANT, '$2'))
  const around = line.split(/\{[a-z]+:[^}]*\}/)
  const between = new RegExp(`^${around.map((text) => RegExp.escape(text)).join('(.*?)')}$`, 's').exec(told)
  const tokens = (told.match(TOKEN) ?? []).length
  const pieces = plants.map((_, at) => between?.[at + 1] ?? '')
  const found = pieces.filter((piece) => /^\[(?:card|phone|email|digits)\]\.?$/.test(piece)).length
  const named = pieces.filter((piece, at) => piece.startsWith(`[${plants[at]?.kind}]`)).length
  const isRight = found === plants.length && tokens === plants.length
  return { planted: plants.length, found, named, tokens, faults: isRight ? [] : [`${line} → ${told}`] }
}

function judgeAll(lines: readonly string[]): Judged {
  return lines.map(judge).reduce((all, one) => ({
    planted: all.planted + one.planted,
    found: all.found + one.found,
    named: all.named + one.named,
    tokens: all.tokens + one.tokens,
    faults: [...all.faults, ...one.faults],
  }))
}

describe('the corpus of dictated and written numbers', () => {
  const { planted, plain } = generatedLines(SEED)
  const lines = [...planted, ...plain, ...WRITTEN_PLANTED, ...WRITTEN_PLAIN]

  it('loses at least 98 of 100 numbers and addresses that are planted, and little beside them', () => {
    const all = judgeAll(lines)
    const recall = all.found / all.planted
    const precision = all.found / all.tokens
    const named = all.named / all.planted
    process.stdout.write(
      `redaction corpus: ${lines.length} lines, ${all.planted} planted, recall ${recall.toFixed(4)}, ` +
        `precision ${precision.toFixed(4)}, of the right kind ${named.toFixed(4)}\n`,
    )
    for (const fault of all.faults) process.stdout.write(`  ${fault}\n`)
    expect(lines.length).toBeGreaterThanOrEqual(500)
    expect(recall).toBeGreaterThanOrEqual(0.98)
    expect(precision).toBeGreaterThanOrEqual(0.98)
  })

  it('takes nothing out of a text that has been redacted', () => {
    const once = lines.map((line) => turnOf(line.replace(PLANT, '$2')))
    expect(once.map(turnOf)).toEqual(once)
  })
})
