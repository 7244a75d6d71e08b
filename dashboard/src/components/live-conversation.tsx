import type { ReactNode } from 'react'
import type { LiveTool } from '../api/live-conversation.ts'
import type { FollowedConversation } from '../api/use-live-conversation.ts'
import { Conversation } from './conversation.tsx'
import { endReasonText } from './end-reason.ts'
import { FailureState } from './failure-state.tsx'
import styles from './live-conversation.module.css'
import { StatusBadge, type Tone } from './status-badge.tsx'
import { words } from './text.ts'

type LiveConversationViewProps = { followed: FollowedConversation; agentName: string | null; silence: ReactNode }

/** What is being said and done in a call, and why it ended. */
export function LiveConversationView({ followed, agentName, silence }: LiveConversationViewProps) {
  const { conversation, isFollowed, failure } = followed
  const { turns, tools, endReason } = conversation
  return (
    <div className={styles.live}>
      {failure && <FailureState error={failure} />}
      <Conversation turns={turns} agentName={agentName} isLive={isFollowed} isFramed silence={silence} />
      {tools.length > 0 && <Tools tools={tools} />}
      {/* There before it says something: of what comes with its words nothing is read out. */}
      <output className={styles.end}>{endReason !== null && `The call is over. ${endReasonText(endReason)}.`}</output>
    </div>
  )
}

const TONES: Record<string, Tone> = { ok: 'good', error: 'bad', timeout: 'wait' }

function Tools({ tools }: { tools: LiveTool[] }) {
  return (
    <ul className={styles.tools} aria-label="Tools">
      {tools.map(({ call_id, name, status }) => (
        <li key={call_id}>
          <span className="mono">{name}</span> <StatusBadge tone={TONES[status] ?? 'busy'}>{words(status)}</StatusBadge>
        </li>
      ))}
    </ul>
  )
}
