import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { isPhoneNumber, type PhoneNumber } from '../../service/src/kernel/phone.ts'

/** A command line that makes no sense; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reads the command line of this process. @throws UsageError for options that are not among these. */
export function readArguments<const Options extends ParseArgsOptionsConfig>(options: Options) {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @throws UsageError for what is no phone number. */
export function readNumber(text: string): PhoneNumber {
  if (isPhoneNumber(text)) return text
  throw new UsageError(
    `${text} is no phone number in E.164, such as +12025550123: a plus, the country, the rest, no spaces.`,
  )
}
