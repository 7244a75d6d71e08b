import { useEffect, useRef } from 'react'
import type { Level } from '../audio/level.ts'
import styles from './level-meter.module.css'

/** How loud somebody is, drawn as often as the screen is. For the eye alone: what is said is heard, or stands there as text. */
export function LevelMeter({ label, level }: { label: string; level: Level }) {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let frame = requestAnimationFrame(draw)
    function draw(): void {
      if (bar.current) bar.current.style.transform = `scaleX(${level().toFixed(3)})`
      frame = requestAnimationFrame(draw)
    }
    return () => cancelAnimationFrame(frame)
  }, [level])
  return (
    <div className={styles.meter} aria-hidden="true" data-meter={label}>
      <span className={styles.label}>{label}</span>
      <div className={styles.track}>
        <div className={styles.bar} ref={bar} />
      </div>
    </div>
  )
}
