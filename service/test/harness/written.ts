import type { Readable } from 'node:stream'

/** What a program has written so far; both members grow. */
export type Written = { stdout: string; stderr: string }

/** Keeps what a program writes from now on. */
export function writtenBy(child: { stdout: Readable; stderr: Readable }): Written {
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text
  })
  return written
}
