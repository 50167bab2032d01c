// SPDX-License-Identifier: Apache-2.0
// Before a deployment is removed, a client that supports forms shows one, and the user's answer decides. A client without forms
// confirms the removal in the call. Every test runs with each of the official clients.
import assert from 'node:assert/strict';
import { connect, forEachClient, text } from './support/clients.mjs';
import { startServer } from './support/harness.mjs';

// connectWithForms(t, kind, answer): {client, forms}. The client answers every form with `answer`; without `answer`, it does not
// support forms. `forms` collects the forms that the server sends it.
async function connectWithForms(t, kind, answer) {
    const server = await startServer(t);
    const forms = [];
    const client = await connect(kind, server.url, {
        onForm: answer && ((form) => (forms.push(form), answer)),
    });
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:1' });
    return { client, forms };
}

forEachClient('the user is asked before a deployment is removed', async (t, kind) => {
    const { client, forms } = await connectWithForms(t, kind, { action: 'accept', content: { remove: true } });
    assert.deepEqual(await client.call('deployment_remove', { deployment: 'sim' }), { name: 'sim', removed: true });
    assert.equal(forms.length, 1);
    assert.match(forms[0].message, /Remove the deployment "sim"/);
    assert.deepEqual(forms[0].requestedSchema.required, ['remove']);
    assert.deepEqual((await client.call('deployment_list')).deployments, []);
    await client.close();
});

forEachClient('nothing is removed when the user declines', async (t, kind) => {
    const { client } = await connectWithForms(t, kind, { action: 'decline' });
    assert.match(await client.refusal('deployment_remove', { deployment: 'sim' }), /sim stays registered/);
    assert.equal((await client.call('deployment_list')).deployments.length, 1);
    await client.close();
});

forEachClient('a client without forms is told what would be removed, and how to confirm it', async (t, kind) => {
    const { client } = await connectWithForms(t, kind);
    const refused = await client.callTool('deployment_remove', { deployment: 'sim' });
    assert.ok(refused.isError);
    assert.match(text(refused), /Its server is not touched.*call again with "confirm": "sim"/);
    await client.call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
    await client.close();
});
