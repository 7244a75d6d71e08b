import type { TenantId } from '../../kernel/ids.ts'

/** The levels that lines have, the least urgent first. */
export const LINE_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/** A line of the log as it is shown: cleaned of secrets and personal data, with the tenant whose it is, if it is one's. */
export type LogLine = { time: string; level: LineLevel; msg: string; tenant_id: TenantId | null } & Record<
  string,
  unknown
>

/** Which lines somebody may and wants to see; null stands for every value. */
export type LineFilter = {
  tenantId: TenantId | null
  /** And what is more urgent. */
  level: LineLevel
  callSid: string | null
  /** Words that stand in the line, in any case. */
  text: string | null
}

/** Reads a finished line of the log. */
export function readLine(text: string): LogLine {
  return { tenant_id: null, ...(JSON.parse(text) as Omit<LogLine, 'tenant_id'>) } as LogLine
}

/** @param text the same line as it was written. */
export function isWanted(line: LogLine, text: string, { tenantId, level, callSid, text: words }: LineFilter): boolean {
  if (tenantId !== null && line.tenant_id !== tenantId) return false
  if (LINE_LEVELS.indexOf(line.level) < LINE_LEVELS.indexOf(level)) return false
  if (callSid !== null && line['call_sid'] !== callSid) return false
  return words === null || text.toLowerCase().includes(words.toLowerCase())
}

/**
 * The line as the reader may see it: a tenant is told which error there was, and not how our insides and what we stand on
 * word it.
 */
export function shownTo(tenantId: TenantId | null, line: LogLine): LogLine {
  if (tenantId === null || line['err'] === undefined) return line
  const { name, code } = line['err'] as { name?: unknown; code?: unknown }
  return { ...line, err: { name, ...(code !== undefined && { code }) } }
}
