// SPDX-License-Identifier: Apache-2.0
// Every official client shows a form before a deployment is removed, and its answer decides.
import assert from 'node:assert/strict';
import { connect, forEachClient, text } from './support/clients.mjs';
import { startServer } from './support/harness.mjs';

// Connects a client that answers every form with `answer`, or that shows no forms; {client, forms}.
async function connectAsked(t, kind, answer) {
    const server = await startServer(t);
    const forms = [];
    const client = await connect(kind, server.url, {
        onForm: answer && ((form) => (forms.push(form), answer)),
    });
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:1' });
    return { client, forms };
}

forEachClient('the user is asked before a deployment is removed', async (t, kind) => {
    const { client, forms } = await connectAsked(t, kind, { action: 'accept', content: { remove: true } });
    assert.deepEqual(await client.call('deployment_remove', { deployment: 'sim' }), { name: 'sim', removed: true });
    assert.equal(forms.length, 1);
    assert.match(forms[0].message, /Remove the deployment "sim"/);
    assert.deepEqual(forms[0].requestedSchema.required, ['remove']);
    assert.deepEqual((await client.call('deployment_list')).deployments, []);
    await client.close();
});

forEachClient('removes nothing when its user declines', async (t, kind) => {
    const { client } = await connectAsked(t, kind, { action: 'decline' });
    assert.match(await client.refusal('deployment_remove', { deployment: 'sim' }), /sim stays registered/);
    assert.equal((await client.call('deployment_list')).deployments.length, 1);
    await client.close();
});

forEachClient('reports the plan to a client that cannot be asked', async (t, kind) => {
    const { client } = await connectAsked(t, kind);
    const refused = await client.callTool('deployment_remove', { deployment: 'sim' });
    assert.ok(refused.isError);
    assert.match(text(refused), /Kept: its server.*call again with "confirm": "sim"/);
    await client.call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
    await client.close();
});
