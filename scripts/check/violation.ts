import type { Node } from 'oxc-parser'
import { lineOf, type Source } from './source.ts'

/** A broken rule of the house. `line` counts from 1. */
export type Violation = { file: string; line: number; rule: string; message: string }

/** A violation at a node of a file. */
export function violation(source: Source, at: Pick<Node, 'start'>, rule: string, message: string): Violation {
  return { file: source.path, line: lineOf(source, at.start), rule, message }
}

/** `file:line rule: message`, one line. */
export function describeViolation({ file, line, rule, message }: Violation): string {
  return `${file}:${line} ${rule}: ${message}`
}
