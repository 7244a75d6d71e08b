import { useEffect, useState } from 'react'
import styles from './no-answer-yet.module.css'

/** From then on it is said that something takes long. */
const LONG_MS = 30_000

/** Of something that was asked for: once it takes long, that nobody has answered yet, which does not say that nothing is done. */
export function NoAnswerYet({ isBusy }: { isBusy: boolean }) {
  const isLong = useLong(isBusy)
  return (
    <output className={styles.told}>
      {isLong && 'No answer has come yet. It may be done all the same: look before you ask for it once more.'}
    </output>
  )
}

function useLong(isBusy: boolean): boolean {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    if (!isBusy) return
    const timer = setTimeout(() => setLong(true), LONG_MS)
    return () => {
      clearTimeout(timer)
      setLong(false)
    }
  }, [isBusy])
  return isLong
}
