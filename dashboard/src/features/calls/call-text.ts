import { DASH, durationText } from '../../components/text.ts'

/** Who speaks in a call for the tenant. */
export function agentOf({ agent_name, agent_key }: { agent_name: string | null; agent_key: string | null }): string {
  return agent_name ?? agent_key ?? DASH
}

/** How long a call lasted; of one that goes on a dash. */
export function lengthOf({ duration_seconds: seconds }: { duration_seconds: number | null }): string {
  return seconds === null ? DASH : durationText(seconds)
}
