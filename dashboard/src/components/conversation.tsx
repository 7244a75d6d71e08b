import { UnstyledButton } from '@mantine/core'
import { type ReactNode, type UIEvent, useLayoutEffect, useRef } from 'react'
import styles from './conversation.module.css'
import { EmptyState } from './empty-state.tsx'
import { Panel } from './panel.tsx'
import { StatusBadge } from './status-badge.tsx'
import { durationText } from './text.ts'

/** Something that was said. */
export type SpokenTurn = {
  seq: number
  role: 'caller' | 'agent' | 'system' | 'supervisor'
  /** Which of the agents that had the call has said it; null, or not given, where that is not known. */
  agent_name?: string | null
  text: string
  unheard: string
  start_ms: number
  /** Not known while it is being said. */
  end_ms?: number
  interrupted: boolean
  /** By which it is known while it is being said. */
  item_id?: string
  /** It is being said. */
  isOpen?: boolean
  /** How long the caller waited for it. */
  response_ms?: number | null
}

type ConversationProps = {
  turns: SpokenTurn[]
  agentName: string | null
  /** What is said comes by itself. */
  isLive: boolean
  /** It stands in a frame of its own, whose end is shown to who reads there: while a call goes on, whether events come or not. */
  isFramed?: boolean
  /** Stands there while nothing was said, of a call that goes on. */
  silence?: ReactNode
  /** Plays what was said from there on. */
  onPlay?: ((startMs: number) => void) | null
  /** What is being played. */
  playedSeq?: number | null
}

/** So near to the end of what was said somebody reads along. */
const NEAR_PX = 40

/** What was said, as it was heard; of an agent that was interrupted also what nobody heard. */
export function Conversation({ turns, agentName, isLive, isFramed = false, silence, ...playing }: ConversationProps) {
  const length = turns.reduce((sum, { text }) => sum + text.length + 1, 0)
  const following = useFollowing(isFramed ? length : 0)
  return (
    <Panel title="Conversation" aside={isLive && <StatusBadge tone="busy">Live</StatusBadge>}>
      {turns.length === 0 ? (
        silence || <NothingSaid />
      ) : (
        <section
          className={isFramed ? styles.framed : ''}
          tabIndex={isFramed ? 0 : -1}
          {...following}
          aria-label="What was said"
        >
          {/* What was said is read out once it is at its end: what grows would be again with each of its words. */}
          <div className={styles.ended} aria-live={isLive ? 'polite' : 'off'}>
            <Turns turns={turns.filter(({ isOpen }) => !isOpen)} agentName={agentName} {...playing} />
          </div>
          <Turns turns={turns.filter(({ isOpen }) => isOpen)} agentName={agentName} {...playing} />
        </section>
      )}
    </Panel>
  )
}

type TurnsProps = Pick<ConversationProps, 'turns' | 'agentName' | 'onPlay' | 'playedSeq'>

function Turns({ turns, ...shown }: TurnsProps) {
  if (turns.length === 0) return null
  return (
    <ol className={styles.turns}>
      {turns.map((turn) => (
        <TurnItem key={keyOf(turn)} turn={turn} {...shown} />
      ))}
    </ol>
  )
}

/** Shows the end of a frame whose content grows to that length, as long as somebody reads there: who reads further up goes on there. */
function useFollowing(length: number) {
  const frame = useRef<HTMLElement>(null)
  const seen = useRef({ topPx: 0, heightPx: 0, isAtEnd: true })
  // Before it is painted, and before anybody can move in it again.
  useLayoutEffect(() => {
    const element = frame.current
    if (!element || length === 0) return
    const { topPx, heightPx, isAtEnd } = seen.current
    const { scrollTop, scrollHeight, clientHeight } = element
    // The event that tells of a move comes with the next frame: words may come before it.
    const isFollowed = scrollTop === topPx ? isAtEnd : heightPx - clientHeight - scrollTop < NEAR_PX
    if (isFollowed) element.scrollTo({ top: scrollHeight })
    seen.current = { topPx: element.scrollTop, heightPx: scrollHeight, isAtEnd: isFollowed }
  }, [length])
  const onScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: UIEvent) => {
    const isAtEnd = scrollHeight - clientHeight - scrollTop < NEAR_PX
    seen.current = { topPx: scrollTop, heightPx: scrollHeight, isAtEnd }
  }
  return { ref: frame, onScroll }
}

function keyOf({ item_id, seq, start_ms, role }: SpokenTurn): string {
  return item_id ?? `${seq} ${start_ms} ${role}`
}

function NothingSaid() {
  return (
    <EmptyState title="Nothing was said">The line was silent, or the call was over before anybody spoke.</EmptyState>
  )
}

type TurnItemProps = Pick<ConversationProps, 'agentName' | 'onPlay' | 'playedSeq'> & { turn: SpokenTurn }

function TurnItem({ turn, agentName, onPlay, playedSeq }: TurnItemProps) {
  const { role, text, unheard, start_ms: startMs, interrupted, isOpen = false, response_ms: responseMs = null } = turn
  const isUnwritten = role === 'caller' && text === '' && !isOpen
  const isPlayed = playedSeq === turn.seq
  const speaker = isWhisper(turn) ? 'Supervisor, whispered' : speakerOf(role, turn.agent_name ?? agentName)
  return (
    <li className={`${styles.turn} ${styles[role]} ${isPlayed ? styles.played : ''}`}>
      <div className={styles.head}>
        <span className={styles.speaker}>{speaker}</span>
        {!isOpen && <Time startMs={startMs} speaker={speaker} onPlay={onPlay} />}
        {responseMs !== null && <span className="numbers">after {responseMs} ms</span>}
        {interrupted && <span>interrupted</span>}
      </div>
      <p className={styles.text} dir="auto">
        {isUnwritten ? <span className={styles.unheard}>(not written down)</span> : text}
        {unheard && (
          <span className={styles.unheard}>
            <span className="unseen"> Not heard: </span> {unheard}
          </span>
        )}
      </p>
    </li>
  )
}

type TimeProps = Pick<ConversationProps, 'onPlay'> & { startMs: number; speaker: string }

function Time({ startMs, speaker, onPlay }: TimeProps) {
  const at = durationText(startMs / 1_000)
  if (!onPlay) return <span className="numbers">{at}</span>
  return (
    <UnstyledButton className={styles.play} aria-label={`Hear the ${speaker} at ${at}`} onClick={() => onPlay(startMs)}>
      <span className="numbers">▸ {at}</span>
    </UnstyledButton>
  )
}

/** What a supervisor has told the agent alone has no sound, and so no length; what they said to the caller has one. */
function isWhisper({ role, start_ms: startMs, end_ms: endMs }: SpokenTurn): boolean {
  return role === 'supervisor' && endMs === startMs
}

function speakerOf(role: SpokenTurn['role'], agentName: string | null): string {
  const names = { caller: 'Caller', agent: agentName ?? 'Agent', system: 'System', supervisor: 'Supervisor' }
  return names[role]
}
