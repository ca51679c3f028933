//! Identities in the notation of the INDEX.

use super::json::{bits, list, non_empty, octets, plmn, sequence, unknown};
use e2sm::common::*;
use serde_json::{Value, json};

pub fn ue_list(ues: &[UeId]) -> Value {
    list(ues, |ue| json!({"ueID": ue_id(ue)}))
}

fn ids(key: &str, ids: &[u32]) -> Option<Value> {
    non_empty(ids, |id| json!({key: id}))
}

pub fn ue_id(ue: &UeId) -> Value {
    let ran = |id: Option<RanUeId>| id.map(|id| octets(&id.0));
    match ue {
        UeId::Gnb(u) => json!({"gNB-UEID": sequence([
            ("amf-UE-NGAP-ID", Some(u.amf_ue_ngap_id.into())),
            ("guami", Some(guami(&u.guami))),
            ("gNB-CU-UE-F1AP-ID-List", ids("gNB-CU-UE-F1AP-ID", &u.f1ap_ids)),
            ("gNB-CU-CP-UE-E1AP-ID-List", ids("gNB-CU-CP-UE-E1AP-ID", &u.e1ap_ids)),
            ("ran-UEID", ran(u.ran_ue_id)),
            ("m-NG-RAN-UE-XnAP-ID", u.xnap_id.map(Into::into)),
            ("globalGNB-ID", u.global_gnb_id.as_ref().map(gnb)),
            ("globalNG-RANNode-ID", u.global_ng_ran_node_id.as_ref().map(ran_node)),
        ])}),
        UeId::GnbDu(u) => json!({"gNB-DU-UEID": sequence([
            ("gNB-CU-UE-F1AP-ID", Some(u.f1ap_id.into())),
            ("ran-UEID", ran(u.ran_ue_id)),
        ])}),
        UeId::GnbCuUp(u) => json!({"gNB-CU-UP-UEID": sequence([
            ("gNB-CU-CP-UE-E1AP-ID", Some(u.e1ap_id.into())),
            ("ran-UEID", ran(u.ran_ue_id)),
        ])}),
        UeId::NgEnb(u) => json!({"ng-eNB-UEID": sequence([
            ("amf-UE-NGAP-ID", Some(u.amf_ue_ngap_id.into())),
            ("guami", Some(guami(&u.guami))),
            ("ng-eNB-CU-UE-W1AP-ID", u.w1ap_id.map(Into::into)),
            ("m-NG-RAN-UE-XnAP-ID", u.xnap_id.map(Into::into)),
            ("globalNgENB-ID", u.global_ng_enb_id.as_ref().map(ng_enb)),
            ("globalNG-RANNode-ID", u.global_ng_ran_node_id.as_ref().map(ran_node)),
        ])}),
        UeId::NgEnbDu(u) => json!({"ng-eNB-DU-UEID": {"ng-eNB-CU-UE-W1AP-ID": u.w1ap_id}}),
        UeId::EnGnb(u) => json!({"en-gNB-UEID": sequence([
            ("m-eNB-UE-X2AP-ID", Some(u.x2ap_id.into())),
            ("m-eNB-UE-X2AP-ID-Extension", u.x2ap_id_extension.map(Into::into)),
            ("globalENB-ID", Some(enb(&u.global_enb_id))),
            ("gNB-CU-UE-F1AP-ID", u.f1ap_id.map(Into::into)),
            ("gNB-CU-CP-UE-E1AP-ID-List", ids("gNB-CU-CP-UE-E1AP-ID", &u.e1ap_ids)),
            ("ran-UEID", ran(u.ran_ue_id)),
        ])}),
        UeId::Enb(u) => json!({"eNB-UEID": sequence([
            ("mME-UE-S1AP-ID", Some(u.mme_ue_s1ap_id.into())),
            ("gUMMEI", Some(json!({
                "pLMN-Identity": plmn(u.gummei.plmn),
                "mME-Group-ID": octets(&u.gummei.group.to_be_bytes()),
                "mME-Code": octets(&[u.gummei.code]),
            }))),
            ("m-eNB-UE-X2AP-ID", u.x2ap_id.map(Into::into)),
            ("m-eNB-UE-X2AP-ID-Extension", u.x2ap_id_extension.map(Into::into)),
            ("globalENB-ID", u.global_enb_id.as_ref().map(enb)),
        ])}),
        UeId::Unknown(u) => unknown(u),
    }
}

fn guami(g: &Guami) -> Value {
    json!({
        "pLMNIdentity": plmn(g.plmn),
        "aMFRegionID": bits(g.region.into(), 8),
        "aMFSetID": bits(g.set.into(), 10),
        "aMFPointer": bits(g.pointer.into(), 6),
    })
}

pub fn cgi(cell: &Cgi) -> Value {
    match cell {
        Cgi::Nr { plmn: p, cell } => {
            json!({"nR-CGI": {"pLMNIdentity": plmn(*p), "nRCellIdentity": bits(*cell, 36)}})
        }
        Cgi::Eutra { plmn: p, cell } => {
            json!({"eUTRA-CGI": {"pLMNIdentity": plmn(*p), "eUTRACellIdentity": bits((*cell).into(), 28)}})
        }
        Cgi::Unknown(u) => unknown(u),
    }
}

fn gnb(g: &GlobalGnbId) -> Value {
    let id = match &g.gnb {
        GnbId::Bits { value, length } => {
            json!({"gNB-ID": bits((*value).into(), usize::from(*length))})
        }
        GnbId::Unknown(u) => unknown(u),
    };
    json!({"pLMNIdentity": plmn(g.plmn), "gNB-ID": id})
}

fn ng_enb(e: &GlobalNgEnbId) -> Value {
    let id = match &e.enb {
        NgEnbId::Macro(v) => json!({"macroNgENB-ID": bits((*v).into(), 20)}),
        NgEnbId::ShortMacro(v) => json!({"shortMacroNgENB-ID": bits((*v).into(), 18)}),
        NgEnbId::LongMacro(v) => json!({"longMacroNgENB-ID": bits((*v).into(), 21)}),
        NgEnbId::Unknown(u) => unknown(u),
    };
    json!({"pLMNIdentity": plmn(e.plmn), "ngENB-ID": id})
}

fn enb(e: &GlobalEnbId) -> Value {
    let id = match &e.enb {
        EnbId::Macro(v) => json!({"macro-eNB-ID": bits((*v).into(), 20)}),
        EnbId::Home(v) => json!({"home-eNB-ID": bits((*v).into(), 28)}),
        EnbId::ShortMacro(v) => json!({"short-Macro-eNB-ID": bits((*v).into(), 18)}),
        EnbId::LongMacro(v) => json!({"long-Macro-eNB-ID": bits((*v).into(), 21)}),
        EnbId::Unknown(u) => unknown(u),
    };
    json!({"pLMNIdentity": plmn(e.plmn), "eNB-ID": id})
}

fn ran_node(n: &GlobalNgRanNodeId) -> Value {
    match n {
        GlobalNgRanNodeId::Gnb(g) => json!({"gNB": gnb(g)}),
        GlobalNgRanNodeId::NgEnb(e) => json!({"ng-eNB": ng_enb(e)}),
        GlobalNgRanNodeId::Unknown(u) => unknown(u),
    }
}
