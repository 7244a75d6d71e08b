import { Button } from '@mantine/core'
import { useState } from 'react'
import { serviceNow } from '../api/service-clock.ts'
import type { Stall } from '../audio/audio-line.ts'
import type { UsedLine } from '../audio/use-audio-line.ts'
import { Elapsed } from './elapsed.tsx'
import { LevelMeter } from './level-meter.tsx'
import styles from './line-controls.module.css'

type LineControlsProps = {
  line: UsedLine
  /** Whom one hears. */
  other: string
  /** What the button that ends it says. */
  hangUp: string
  hasKeypad?: boolean
  /** Whoever only listens has no microphone. */
  isListening?: boolean
}

/** What there is to do on an open line: be quiet, press keys, hang up; and how loud both sides are. */
export function LineControls({ line, other, hangUp, hasKeypad = false, isListening = false }: LineControlsProps) {
  const { phase, stall, isMuted, setMuted, own, others, close, press } = line
  return (
    <div className={styles.controls}>
      <div>
        <output>{phase === 'open' ? openText(stall) : 'Connecting…'}</output>
        {phase === 'open' && <SinceNow isShown={stall === null} />}
      </div>
      <LevelMeter label={other} level={others} />
      {!isListening && <LevelMeter label="You" level={own} />}
      <div className={styles.buttons}>
        {!isListening && (
          <Button variant="default" onClick={() => setMuted(!isMuted)}>
            {isMuted ? 'Unmute' : 'Mute'}
          </Button>
        )}
        <Button color="red.8" onClick={close}>
          {hangUp}
        </Button>
      </div>
      {hasKeypad && <Keypad onPress={press} disabled={phase !== 'open'} />}
    </div>
  )
}

const STALLED: Record<Stall, string> = {
  line: 'Nothing comes over the line now: the connection may be lost.',
  sound: 'The browser has stopped the sound of this page. Keep it in front, and tap it, for the sound to go on.',
}

function openText(stall: Stall | null): string {
  return stall ? STALLED[stall] : 'Connected'
}

/** Beside what is read out when it changes: each second of it would be, over what is said on the line. */
function SinceNow({ isShown }: { isShown: boolean }) {
  const [since] = useState(() => serviceNow())
  if (!isShown) return null
  return (
    <>
      {' · '}
      <Elapsed since={since} />
    </>
  )
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#']

function Keypad({ onPress, disabled }: { onPress: (digit: string) => void; disabled: boolean }) {
  return (
    <details>
      <summary className={styles.summary}>Keypad</summary>
      <div className={styles.keys}>
        {KEYS.map((key) => (
          <Button
            key={key}
            variant="default"
            disabled={disabled}
            aria-label={`Key ${key}`}
            onClick={() => onPress(key)}
          >
            {key}
          </Button>
        ))}
      </div>
    </details>
  )
}
