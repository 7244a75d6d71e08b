import { DocumentChoice, DocumentFlag, DocumentNumber, DocumentText } from '../../components/document-fields.tsx'
import { Column, Fields } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'

const KEPT = 'Reads back as ***; leave that to keep it.'
const OUTPUTS = [
  { value: '', label: 'The model (default)' },
  { value: 'primary', label: 'The model' },
  { value: 'secondary', label: 'The secondary provider' },
]

/** What most tenants set. */
export function TenantFields() {
  return (
    <>
      <Panel title="Name and voice">
        <Fields>
          <DocumentText path={['name']} label="Name" />
          <DocumentText path={['org_id']} label="Organisation" />
          <DocumentText path={['system_prompt_key']} label="Prompt" description="The key of a stored prompt." />
          <DocumentText path={['model']} label="Model" />
          <DocumentText path={['voice']} label="Voice" />
          <DocumentChoice path={['audio_output', 'provider']} label="Who speaks" choices={OUTPUTS} />
        </Fields>
      </Panel>
      <Panel title="Carrier account">
        <Fields>
          <DocumentText path={['telephony', 'account_sid']} label="Account" />
          <DocumentText path={['telephony', 'auth_token']} label="Auth token" description={KEPT} />
          <DocumentText path={['telephony', 'from_number']} label="Calls from" placeholder="+12025550123" />
          <DocumentText
            path={['telephony', 'fallback_number']}
            label="Who takes calls that we cannot"
            placeholder="+12025550100"
          />
        </Fields>
      </Panel>
      <Panel title="Webhook">
        <Fields>
          <DocumentText path={['webhook', 'url']} label="Address" placeholder="https://example.com/parley" />
          <DocumentText path={['webhook', 'secret']} label="Secret" description={KEPT} />
        </Fields>
      </Panel>
      <Panel title="Limits">
        <Fields>
          <DocumentNumber path={['limits', 'max_concurrent_calls']} label="Calls at once" />
          <DocumentNumber path={['limits', 'max_call_seconds']} label="Longest call, in seconds" />
          <DocumentNumber path={['limits', 'idle_seconds']} label="Longest silence, in seconds" />
          <DocumentNumber path={['limits', 'minutes_per_day']} label="Minutes a day" />
          <DocumentNumber path={['limits', 'requests_per_minute']} label="API requests a minute" />
        </Fields>
      </Panel>
      <Panel title="Rules">
        <Column>
          <Fields>
            <DocumentText path={['compliance', 'timezone']} label="Time zone" placeholder="Europe/Berlin" />
            <DocumentText
              path={['compliance', 'calling_hours', 'start']}
              label="Calls from, o’clock"
              placeholder="09:00"
            />
            <DocumentText
              path={['compliance', 'calling_hours', 'end']}
              label="Calls until, o’clock"
              placeholder="20:00"
            />
            <DocumentNumber path={['compliance', 'max_attempts_per_day']} label="Calls to a number a day" />
            <DocumentText path={['compliance', 'ai_disclosure']} label="Said at the beginning" />
          </Fields>
          <DocumentFlag path={['compliance', 'record_calls']} label="Record calls" />
          <DocumentFlag path={['compliance', 'record_beep']} label="Beep while recording" />
          <DocumentFlag path={['compliance', 'require_consent']} label="Call only with consent" />
        </Column>
      </Panel>
    </>
  )
}
