import { Button } from '@mantine/core'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { fileOf } from '../../api/client.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { Panel } from '../../components/panel.tsx'
import styles from './recording.module.css'
import { openWavePlayer, type WavePlayer } from './wave-player.ts'

type RecordingProps = {
  tenantId: string
  url: string
  name: string
  /** Whoever wants to hear a place asks this, once there is something to be heard. */
  player: RefObject<WavePlayer | null>
  onReady: (isReady: boolean) => void
  onTime: (ms: number) => void
}
type Loaded = { address: string | null; isLoading: boolean; error: unknown }

/** The audio of a call, fetched when somebody wants to hear it: an hour of it is 100 MB. */
export function Recording({ tenantId, url, name, ...wave }: RecordingProps) {
  const [audio, setAudio] = useState<Blob | null>(null)
  const [{ address, isLoading, error }, setLoaded] = useState<Loaded>({ address: null, isLoading: false, error: null })
  useEffect(() => () => URL.revokeObjectURL(address ?? ''), [address])

  function load(): void {
    setLoaded({ address: null, isLoading: true, error: null })
    fileOf(url, tenantId).then(
      (file) => {
        setAudio(file)
        setLoaded({ address: URL.createObjectURL(file), isLoading: false, error: null })
      },
      (failure: unknown) => setLoaded({ address: null, isLoading: false, error: failure }),
    )
  }

  return (
    <Panel title="Recording" aside="The caller above, the agent below">
      {error ? <FailureState error={error} onRetry={load} /> : null}
      {address === null || audio === null ? (
        <Button variant="default" loading={isLoading} onClick={load}>
          Load the recording
        </Button>
      ) : (
        <div className={styles.player}>
          <Wave audio={audio} {...wave} />
          <Button
            component="a"
            href={address}
            download={`${name}.wav`}
            variant="default"
            leftSection={<Icon name="download" />}
          >
            Download
          </Button>
        </div>
      )}
    </Panel>
  )
}

type WaveProps = Pick<RecordingProps, 'player' | 'onReady' | 'onTime'> & { audio: Blob }

function Wave({ audio, player, onReady, onTime }: WaveProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (!frame.current) return
    let isLeft = false
    openWavePlayer({ container: frame.current, audio, onTime, onPlaying: setPlaying }).then((opened) => {
      if (isLeft) return opened.close()
      player.current = opened
      onReady(true)
    }, setError)
    return () => {
      isLeft = true
      player.current?.close()
      player.current = null
      onReady(false)
    }
  }, [audio, player, onReady, onTime])
  return (
    <>
      <div className={styles.wave} ref={frame} />
      {error ? <FailureState error={error} /> : null}
      <Button onClick={() => player.current?.toggle()}>{isPlaying ? 'Pause' : 'Play'}</Button>
    </>
  )
}
