import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Comparison } from '../../components/comparison.tsx'
import { Column, Fields } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import type { Version } from './agent-queries.ts'

/** What one version says and another one does not. */
export function ComparePanel({ versions }: { versions: Version[] }) {
  const [newest, second] = versions
  const published = versions.find(({ status }) => status === 'published')
  const [before, setBefore] = useState((published === newest ? second : (published ?? second))?.id ?? '')
  const [after, setAfter] = useState(newest?.id ?? '')
  const choices = versions.map(({ id, ...version }) => ({ value: id, label: nameOf(version) }))
  const [one, other] = [before, after].map((wanted) => versions.find(({ id }) => id === wanted) ?? newest)
  return (
    <Panel title="Compare versions">
      <Column>
        <Fields>
          <NativeSelect
            label="Before"
            data={choices}
            value={before}
            onChange={(event) => setBefore(event.currentTarget.value)}
          />
          <NativeSelect
            label="After"
            data={choices}
            value={after}
            onChange={(event) => setAfter(event.currentTarget.value)}
          />
        </Fields>
        {one && other && (
          <Comparison
            before={{ title: nameOf(one), value: one.config }}
            after={{ title: nameOf(other), value: other.config }}
          />
        )}
      </Column>
    </Panel>
  )
}

function nameOf({ version_number, status }: Pick<Version, 'version_number' | 'status'>): string {
  return `Version ${version_number} (${status})`
}
